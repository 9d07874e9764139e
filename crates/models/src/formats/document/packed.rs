//! Lists of numbers as stored in a UBJ file: big-endian, with one type for the whole list.

/// Returns the size in bytes of a number with this marker.
pub(crate) fn number_size(marker: u8) -> Option<usize> {
    match marker {
        b'i' | b'U' => Some(1),
        b'I' | b'u' => Some(2),
        b'l' | b'm' | b'd' => Some(4),
        b'L' | b'M' | b'D' => Some(8),
        _ => None,
    }
}

/// Decodes the number in `payload`, whose length must match the marker.
pub(crate) fn decode(marker: u8, payload: &[u8]) -> f64 {
    let bits = payload.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
    match marker {
        b'i' => f64::from(bits as u8 as i8),
        b'I' => f64::from(bits as u16 as i16),
        b'l' => f64::from(bits as u32 as i32),
        b'L' => bits as i64 as f64,
        b'd' => f64::from(f32::from_bits(bits as u32)),
        b'D' => f64::from_bits(bits),
        // U, u, m, M
        _ => bits as f64,
    }
}

/// A list of numbers that remains encoded as in the file, to take less memory than decoded numbers. Model
/// files consist almost entirely of such lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedNumbers<'a> {
    marker: u8,
    size: usize,
    payload: &'a [u8],
}

impl<'a> PackedNumbers<'a> {
    /// Creates a list of numbers with `size` bytes each. The size must match the marker, and must divide the
    /// length of the payload.
    pub(crate) fn new(marker: u8, size: usize, payload: &'a [u8]) -> Self {
        Self { marker, size, payload }
    }

    pub(crate) fn len(self) -> usize {
        self.payload.len() / self.size
    }

    /// Returns the numbers as doubles, which represent every number of a model exactly.
    pub(crate) fn decoded(self) -> Vec<f64> {
        self.payload.chunks_exact(self.size).map(|number| decode(self.marker, number)).collect()
    }
}
