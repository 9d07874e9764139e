//! Whether a file is there to its end.
//!
//! An ONNX file is one protobuf message: fields one after the other, each with its number, its kind and mostly its length. It has no
//! mark of its own at the beginning or end, and parsers take what ends too early for a message with fewer fields. The lengths of the
//! outermost fields say where the file must end.

use rten_onnx::onnx::ModelProto;

use crate::error::OnnxError;

/// Reads the whole message.
pub(crate) fn parse(bytes: &[u8]) -> Result<ModelProto, OnnxError> {
    let not_onnx = |problem| OnnxError::NotOnnx { problem };
    if bytes.is_empty() {
        return Err(not_onnx("it is empty".to_owned()));
    }
    let mut rest = bytes;
    while !rest.is_empty() {
        let offset = bytes.len() - rest.len();
        skip_field(&mut rest)
            .ok_or_else(|| not_onnx(format!("the field at byte {offset} of {} is cut off", bytes.len())))?;
    }
    let file = ModelProto::parse_buf(bytes).map_err(|error| not_onnx(error.to_string()))?;
    // Both are required. Writers put the second one last: a file may end too early by just this field.
    if file.ir_version.is_none() || file.opset_import.is_empty() {
        return Err(not_onnx("it states no version of the format or of its operators".to_owned()));
    }
    Ok(file)
}

/// Takes one field from the front, if it is all there and of a kind that is in use.
fn skip_field(rest: &mut &[u8]) -> Option<()> {
    let length = match varint(rest)? & 7 {
        0 => return varint(rest).map(|_| ()),
        1 => 8,
        2 => usize::try_from(varint(rest)?).ok()?,
        5 => 4,
        _ => return None,
    };
    *rest = rest.get(length..)?;
    Some(())
}

/// Takes a number from the front: seven bits per byte, the lowest first, until a byte below 128.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let length = rest.iter().take(10).position(|&byte| byte < 128)? + 1;
    let (digits, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(digits.iter().rev().fold(0, |number, &byte| number << 7 | u64::from(byte & 127)))
}
