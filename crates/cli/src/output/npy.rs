//! A NumPy array of little-endian float64 in C order, in version 1.0 of the format: rows × features × outputs, rows ×
//! features × features × outputs for interactions, or rows × outputs for predictions. The axis of the outputs is left out where there is one.

use std::io::Write;

use anyhow::{Result, bail};

use super::results::{Attributions, Facts, Interactions, Predictions};

pub(super) fn attributions(results: &Attributions, out: &mut dyn Write) -> Result<()> {
    let values = results.rows.iter().flat_map(|row| row.explanation.values.iter().copied());
    array(&[results.rows.len(), results.players.len()], results.outputs, values, out)
}

pub(super) fn interactions(results: &Interactions, out: &mut dyn Write) -> Result<()> {
    let players = results.players.len();
    array(&[results.rows.len(), players, players], results.outputs, results.values.iter().copied(), out)
}

pub(super) fn predictions(results: &Predictions, out: &mut dyn Write) -> Result<()> {
    array(&[results.rows.len()], results.outputs, results.margins.iter().copied(), out)
}

pub(super) fn facts(_: &Facts, _: &mut dyn Write) -> Result<()> {
    bail!("these facts are no array of npy; give --format json, csv or table")
}

fn array(
    shape: &[usize],
    outputs: usize,
    numbers: impl Iterator<Item = f64>,
    out: &mut dyn Write,
) -> Result<()> {
    out.write_all(&header(shape, outputs))?;
    for number in numbers {
        out.write_all(&number.to_le_bytes())?;
    }
    Ok(())
}

/// Magic, version, length, and the dictionary, padded so that the numbers start at a multiple of 64 bytes.
fn header(shape: &[usize], outputs: usize) -> Vec<u8> {
    const BEFORE: usize = 10;
    let axes = shape.iter().copied().chain((outputs > 1).then_some(outputs));
    let axes: Vec<String> = axes.map(|length| length.to_string()).collect();
    let shape = if axes.len() == 1 { format!("{},", axes[0]) } else { axes.join(", ") };
    let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (BEFORE + text.len() + 1).next_multiple_of(64) - BEFORE;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    // Four lengths of at most 20 digits each: far below the 65535 bytes that version 1.0 can hold.
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_start_at_a_multiple_of_64_bytes_and_one_output_has_no_axis() {
        for (shape, outputs, says) in
            [(&[7][..], 1, "(7,)"), (&[2, 10], 1, "(2, 10)"), (&[2, 10], 3, "(2, 10, 3)")]
        {
            let bytes = header(shape, outputs);
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), bytes.len() - 10);
            let text = String::from_utf8(bytes[10..].to_vec()).unwrap();
            assert!(text.contains(says) && text.ends_with('\n'), "{text:?}");
        }
    }
}
