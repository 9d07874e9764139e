//! Checks the fields of a message and of its nested messages, as far as the parser reads them.

/// Maximum nesting depth of messages. Most other protobuf readers have the same limit.
const DEPTH: usize = 100;

/// A field that cannot be read, and why.
pub(super) struct Fault {
    /// The position of the field's first byte in the file.
    pub(super) start: usize,
    /// The predicate of a sentence about the field, for the error message.
    pub(super) problem: &'static str,
}

const CUT_OFF: &str = "is truncated";
const TOO_LONG: &str = "has a number with more than 64 bits";
const NO_KIND: &str = "has an invalid wire type";
const TOO_DEEP: &str = "is nested in more than 100 messages";

/// Checks that every number has at most 64 bits in ten bytes, and that every field ends within its message.
///
/// Takes time proportional to the number of fields and packed integers.
pub(super) fn check(bytes: &[u8]) -> Result<(), Fault> {
    fields(Part { start: 0, rest: bytes }, Message::Model, DEPTH)
}

/// A type of message whose fields the parser reads.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Type,
    TensorType,
    SequenceType,
    Shape,
    /// A message that contains neither messages nor packed numbers: a dimension, an operator set, a key-value
    /// pair.
    Leaf,
}

/// The parser's interpretation of a field with a length.
enum Content {
    /// Text, bytes, or a skipped field.
    Bytes,
    Message(Message),
    /// A sequence of integers with seven bits per byte.
    Integers,
    /// A sequence of numbers with this many bytes each.
    Numbers(usize),
}

impl Message {
    /// Returns the content of the field with this number.
    fn content(self, field: u64) -> Content {
        Content::Message(match (self, field) {
            (Self::Model, 7) | (Self::Attribute, 6) => Self::Graph,
            (Self::Graph, 1) => Self::Node,
            (Self::Node, 5) => Self::Attribute,
            (Self::Graph | Self::Attribute, 5) => Self::Tensor,
            (Self::Graph, 11..=13) => Self::Value,
            (Self::Value, 2) | (Self::SequenceType, 1) => Self::Type,
            (Self::Type, 1) => Self::TensorType,
            (Self::Type, 4) => Self::SequenceType,
            (Self::TensorType, 2) => Self::Shape,
            (Self::Model, 8 | 14) | (Self::Tensor, 13) | (Self::Shape, 1) => Self::Leaf,
            (Self::Tensor, 4) => return Content::Numbers(4),
            (Self::Tensor, 10) => return Content::Numbers(8),
            (Self::Tensor, 5 | 7) => return Content::Integers,
            _ => return Content::Bytes,
        })
    }
}

/// Checks the fields of a message, in which other messages may be nested up to `depth` deep.
fn fields(mut part: Part<'_>, message: Message, depth: usize) -> Result<(), Fault> {
    while !part.rest.is_empty() {
        let start = part.start;
        let fault = |problem| Fault { start, problem };
        let Some((number, content)) = part.field().map_err(fault)? else { continue };
        match message.content(number) {
            Content::Bytes => {}
            Content::Message(_) if depth == 0 => return Err(fault(TOO_DEEP)),
            Content::Message(inner) => fields(content, inner, depth - 1)?,
            Content::Integers => content.integers().map_err(fault)?,
            // The parser would interpret the remaining bytes as the next field.
            Content::Numbers(size) if content.rest.len() % size != 0 => return Err(fault(CUT_OFF)),
            Content::Numbers(_) => {}
        }
    }
    Ok(())
}

/// The unread bytes of a message.
struct Part<'a> {
    /// The position of these bytes in the file.
    start: usize,
    rest: &'a [u8],
}

impl<'a> Part<'a> {
    /// Takes one field from the front. Returns the number and the content of a field with a length, and
    /// `None` for a field whose value is a number.
    fn field(&mut self) -> Result<Option<(u64, Self)>, &'static str> {
        let tag = self.integer()?;
        let length = match tag & 7 {
            0 => return self.integer().map(|_| None),
            1 => return self.take(8).map(|_| None),
            2 => usize::try_from(self.integer()?).map_err(|_| CUT_OFF)?,
            5 => return self.take(4).map(|_| None),
            _ => return Err(NO_KIND),
        };
        Ok(Some((tag >> 3, self.take(length)?)))
    }

    /// Reads integers up to the end of these bytes, and discards them.
    fn integers(mut self) -> Result<(), &'static str> {
        while !self.rest.is_empty() {
            self.integer()?;
        }
        Ok(())
    }

    /// Takes an integer from the front: seven bits per byte, the lowest first, up to a byte below 128.
    fn integer(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for (place, &byte) in self.rest.iter().take(10).enumerate() {
            // Nine bytes contain 63 bits, so only one bit is left for the tenth.
            if place == 9 && byte > 1 {
                return Err(TOO_LONG);
            }
            number |= u64::from(byte & 127) << (7 * place);
            if byte < 128 {
                self.take(place + 1)?;
                return Ok(number);
            }
        }
        Err(CUT_OFF)
    }

    /// Takes `length` bytes from the front.
    fn take(&mut self, length: usize) -> Result<Self, &'static str> {
        let (rest, after) = self.rest.split_at_checked(length).ok_or(CUT_OFF)?;
        let taken = Part { start: self.start, rest };
        *self = Part { start: self.start + length, rest: after };
        Ok(taken)
    }
}
