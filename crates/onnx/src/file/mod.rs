//! Whether a file is there to its end, and sound within.
//!
//! An ONNX file is one protobuf message: fields one after the other, each with its number, its kind and
//! mostly its length; the content of a field may be a message again. It has no mark of its own at the
//! beginning or end, and parsers take what ends too early for a message with fewer fields. The lengths of the
//! outermost fields say where the file must end. Those within are checked as well: the parser trusts them, so
//! that it reads for ever, or sets aside more memory than there is, where they are damaged.

#[cfg(test)]
mod tests;
mod walk;

use rten_onnx::onnx::ModelProto;

use crate::error::OnnxError;

/// Reads the whole message.
pub(crate) fn parse(bytes: &[u8]) -> Result<ModelProto, OnnxError> {
    let not_onnx = |problem| OnnxError::NotOnnx { problem };
    if bytes.is_empty() {
        return Err(not_onnx("it is empty".to_owned()));
    }
    walk::check(bytes).map_err(|fault| {
        not_onnx(format!("the field at byte {} of {} {}", fault.start, bytes.len(), fault.problem))
    })?;
    let file = ModelProto::parse_buf(bytes).map_err(|error| not_onnx(error.to_string()))?;
    // Both are required. Writers put the second one last: a file may end too early by just this field.
    if file.ir_version.is_none() || file.opset_import.is_empty() {
        return Err(not_onnx("it states no version of the format or of its operators".to_owned()));
    }
    Ok(file)
}
