//! Validation of ONNX files: completeness and internal consistency.
//!
//! An ONNX file is one protobuf message, a sequence of fields. Each field has a number, a type and usually a
//! length; its content may be another message. Files do not have a marker at the beginning or end, and
//! parsers accept a truncated message as a message with fewer fields. This module therefore checks that the
//! lengths of the outermost fields match the end of the file. It also checks the lengths of inner fields,
//! because the parser trusts them: with corrupt lengths, it would loop forever or allocate more memory than
//! is available.

#[cfg(test)]
mod tests;
mod walk;

use rten_onnx::onnx::ModelProto;

use crate::error::OnnxError;

/// Parses an ONNX file, after checking the lengths of its fields.
pub(crate) fn parse(bytes: &[u8]) -> Result<ModelProto, OnnxError> {
    let not_onnx = |problem| OnnxError::NotOnnx { problem };
    if bytes.is_empty() {
        return Err(not_onnx("the file is empty".to_owned()));
    }
    walk::check(bytes).map_err(|fault| {
        not_onnx(format!("the field at byte {} of {} {}", fault.start, bytes.len(), fault.problem))
    })?;
    let file = ModelProto::parse_buf(bytes).map_err(|error| not_onnx(error.to_string()))?;
    // Both fields are required. Writers put `opset_import` last, so a truncated file may lack only this
    // field.
    if file.ir_version.is_none() || file.opset_import.is_empty() {
        return Err(not_onnx("missing version of the format or of its operators".to_owned()));
    }
    Ok(file)
}
