//! A writer of FlatBuffers, to the extent that Arrow messages require.
//!
//! Every field of a table takes eight bytes, and every part begins at a multiple of eight bytes. Therefore,
//! all values are aligned without additional bookkeeping. Source: FlatBuffers, "Internals".

/// The value of a field.
pub(super) enum Value {
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    Text(String),
    Table(Fields),
    Tables(Vec<Fields>),
    /// A vector of structs of `width` numbers each.
    Numbers {
        width: usize,
        numbers: Vec<i64>,
    },
}

/// The fields of a table: pairs of field number and value.
pub(super) type Fields = Vec<(u16, Value)>;

/// Returns a message with the given root table. Its length is a multiple of eight bytes.
pub(super) fn message(root: &Fields) -> Vec<u8> {
    let mut message = vec![0; 8];
    let at = table(&mut message, root);
    point(&mut message, 0, at);
    align(&mut message);
    message
}

/// Appends a table and everything to which it refers. Returns its position.
fn table(message: &mut Vec<u8>, fields: &Fields) -> usize {
    align(message);
    // The vtable precedes the table. It contains the offsets of the fields in the table.
    let list = message.len();
    let slots = fields.iter().map(|&(field, _)| field + 1).max().unwrap_or(0);
    let list_bytes = 4 + 2 * slots;
    let table_bytes = 8 + 8 * fields.len() as u16;
    message.extend(list_bytes.to_le_bytes());
    message.extend(table_bytes.to_le_bytes());
    message.resize(list + usize::from(list_bytes), 0);
    for ((field, _), way) in fields.iter().zip((8u16..).step_by(8)) {
        let slot = list + 4 + 2 * usize::from(*field);
        message[slot..slot + 2].copy_from_slice(&way.to_le_bytes());
    }
    align(message);
    let at = message.len();
    message.extend(((at - list) as i32).to_le_bytes());
    message.resize(at + usize::from(table_bytes), 0);
    for ((_, value), slot) in fields.iter().zip((at + 8..).step_by(8)) {
        put(message, slot, value);
    }
    at
}

/// Writes a scalar into its field. Appends any other value, and writes its offset into the field.
fn put(message: &mut Vec<u8>, slot: usize, value: &Value) {
    let mut scalar = |bytes: &[u8]| message[slot..slot + bytes.len()].copy_from_slice(bytes);
    match value {
        Value::Byte(value) => scalar(&value.to_le_bytes()),
        Value::Short(value) => scalar(&value.to_le_bytes()),
        Value::Int(value) => scalar(&value.to_le_bytes()),
        Value::Long(value) => scalar(&value.to_le_bytes()),
        Value::Text(text) => {
            let at = length(message, text.len());
            message.extend(text.as_bytes());
            message.push(0);
            point(message, slot, at);
        }
        Value::Table(fields) => {
            let at = table(message, fields);
            point(message, slot, at);
        }
        Value::Tables(tables) => {
            let at = length(message, tables.len());
            let ways = message.len();
            message.resize(ways + 4 * tables.len(), 0);
            for (index, fields) in tables.iter().enumerate() {
                let at = table(message, fields);
                point(message, ways + 4 * index, at);
            }
            point(message, slot, at);
        }
        Value::Numbers { width, numbers } => {
            let at = length(message, numbers.len() / width);
            message.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            point(message, slot, at);
        }
    }
}

/// Appends the length of a vector, aligned so that its elements begin at a multiple of eight. Returns the
/// position of the vector.
fn length(message: &mut Vec<u8>, length: usize) -> usize {
    align(message);
    message.extend([0; 4]);
    message.extend((length as u32).to_le_bytes());
    message.len() - 4
}

/// Writes the offset from `from` to `to`.
fn point(message: &mut [u8], from: usize, to: usize) {
    message[from..from + 4].copy_from_slice(&((to - from) as u32).to_le_bytes());
}

fn align(message: &mut Vec<u8>) {
    message.resize(message.len().next_multiple_of(8), 0);
}

#[cfg(test)]
mod tests {
    use super::super::flatbuffer::Table;
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = |name: &str| vec![(0, Value::Text(name.to_owned()))];
        let message = message(&vec![
            (0, Value::Short(-4)),
            (1, Value::Byte(3)),
            (3, Value::Long(i64::MIN)),
            (4, Value::Int(-7)),
            (5, Value::Table(inner("one table"))),
            (7, Value::Tables(vec![inner(""), inner("zwölf")])),
            (8, Value::Numbers { width: 2, numbers: vec![1, -2, 3, -4] }),
            (9, Value::Tables(vec![])),
        ]);
        assert_eq!(message.len() % 8, 0);
        let table = Table::root(&message).unwrap();
        assert_eq!((table.i16(0), table.u8(1), table.i64(2), table.i64(3)), (-4, 3, 0, i64::MIN));
        assert_eq!((table.i32(4), table.i32(6)), (Some(-7), None));
        assert_eq!(table.table(5).unwrap().text(0), Some("one table"));
        let tables = table.tables(7).unwrap();
        assert_eq!(tables.iter().map(|table| table.text(0).unwrap()).collect::<Vec<_>>(), ["", "zwölf"]);
        assert_eq!(table.numbers(8, 2).unwrap(), [1, -2, 3, -4]);
        assert!(table.tables(9).unwrap().is_empty());
    }
}
