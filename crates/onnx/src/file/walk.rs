//! The fields of a message and of the messages within it, as far as the parser reads them.

/// How deep messages may be within the file's. Other readers of protobuf mostly stop there as well.
const DEPTH: usize = 100;

/// A field that cannot be read.
pub(super) struct Fault {
    /// The byte where it begins.
    pub(super) start: usize,
    /// The end of a sentence about it.
    pub(super) problem: &'static str,
}

const CUT_OFF: &str = "is cut off";
const TOO_LONG: &str = "has a number of more than 64 bits";
const NO_KIND: &str = "is of no kind that is in use";
const TOO_DEEP: &str = "is a message within more than 100 others";

/// Whether every number has at most 64 bits in ten bytes and every field ends within the message that it
/// belongs to.
///
/// It takes time in proportion to the number of fields and packed integers.
pub(super) fn check(bytes: &[u8]) -> Result<(), Fault> {
    fields(Part { start: 0, rest: bytes }, Message::Model, DEPTH)
}

/// A message whose fields the parser reads.
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
    /// One that has neither messages nor packed numbers: a dimension, a set of operators, a key with its
    /// value.
    Leaf,
}

/// What the parser makes of a field that states its length.
enum Content {
    /// Text, bytes, or skipped.
    Bytes,
    Message(Message),
    /// Integers of seven bits per byte, one after the other.
    Integers,
    /// Numbers of so many bytes, one after the other.
    Numbers(usize),
}

impl Message {
    /// The content of the field with this number.
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

/// Checks the fields of a message, within which others may be up to `depth` deep.
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
            // The parser would take what is left over for the next field.
            Content::Numbers(size) if content.rest.len() % size != 0 => return Err(fault(CUT_OFF)),
            Content::Numbers(_) => {}
        }
    }
    Ok(())
}

/// Bytes of a message that are still to be read.
struct Part<'a> {
    /// Where they begin in the file.
    start: usize,
    rest: &'a [u8],
}

impl<'a> Part<'a> {
    /// Takes one field from the front: its number and content where it states a length, nothing where it is a
    /// number.
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

    /// Reads integers to the end.
    fn integers(mut self) -> Result<(), &'static str> {
        while !self.rest.is_empty() {
            self.integer()?;
        }
        Ok(())
    }

    /// Takes an integer from the front: seven bits per byte, the lowest first, until a byte below 128.
    fn integer(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for (place, &byte) in self.rest.iter().take(10).enumerate() {
            // Nine bytes have 63 bits.
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

    /// Takes so many bytes from the front.
    fn take(&mut self, length: usize) -> Result<Self, &'static str> {
        let (rest, after) = self.rest.split_at_checked(length).ok_or(CUT_OFF)?;
        let taken = Part { start: self.start, rest };
        *self = Part { start: self.start + length, rest: after };
        Ok(taken)
    }
}
