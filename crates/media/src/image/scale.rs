//! The scale of pixels in a model's rows.

use super::check_channels;
use crate::error::MediaError;

/// The range of pixel values in a model's rows: the values that represent 0 (black) and 1 (white). The
/// default is 0 to 1.
///
/// ```text
/// row value = low + (high − low) · pixel
/// ```
///
/// A network trained on bytes expects values from 0 to 255. A network trained on (pixel − mean) / deviation
/// expects values from −mean / deviation to (1 − mean) / deviation. Values are not rounded to 32 bits here; a
/// network that computes in 32 bits rounds them itself.
///
/// ```
/// use apportion_media::PixelScale;
///
/// assert_eq!(PixelScale::default().value(0, 0.25), 0.25);
/// assert_eq!(PixelScale::new(-1.0, 1.0)?.value(2, 0.25), -0.5);
/// let by_channel = PixelScale::per_channel([(0.0, 1.0), (0.0, 255.0), (1.0, 0.0)])?;
/// assert_eq!(by_channel.value(1, 0.2), 51.0);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PixelScale {
    /// (low, high) of each channel, or a single pair for all channels.
    ends: Vec<(f64, f64)>,
}

impl Default for PixelScale {
    fn default() -> Self {
        Self { ends: vec![(0.0, 1.0)] }
    }
}

impl PixelScale {
    /// Creates a scale that is the same for every channel.
    ///
    /// # Errors
    ///
    /// [`MediaError::Scale`] unless `low` and `high` are finite and different; `high` may be the smaller one.
    pub fn new(low: f64, high: f64) -> Result<Self, MediaError> {
        match (high - low).is_finite() && high != low {
            true => Ok(Self { ends: vec![(low, high)] }),
            false => Err(MediaError::Scale { low, high }),
        }
    }

    /// Creates a scale with one pair (low, high) for each channel.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new); [`MediaError::ChannelCount`] unless there are 1 or 3 pairs.
    pub fn per_channel(ends: impl Into<Vec<(f64, f64)>>) -> Result<Self, MediaError> {
        let ends = ends.into();
        check_channels(ends.len())?;
        ends.iter().try_for_each(|&(low, high)| Self::new(low, high).map(|_| ()))?;
        Ok(Self { ends })
    }

    /// Returns the number of channels with separate ranges, or `None` if the scale is the same for all
    /// channels.
    pub fn channels(&self) -> Option<usize> {
        (self.ends.len() > 1).then_some(self.ends.len())
    }

    /// Returns the value in a model's row that represents `pixel`, the value of an image pixel in this
    /// channel.
    ///
    /// # Panics
    ///
    /// If the scale is per channel and does not have this channel.
    pub fn value(&self, channel: usize, pixel: f64) -> f64 {
        let (low, high) = if let [ends] = self.ends[..] { ends } else { self.ends[channel] };
        low + (high - low) * pixel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_make_no_scale_are_refused() {
        for (low, high) in [(1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308)] {
            assert!(matches!(PixelScale::new(low, high), Err(MediaError::Scale { .. })), "{low} {high}");
            let ends = [(0.0, 1.0), (low, high), (0.0, 1.0)];
            assert!(matches!(PixelScale::per_channel(ends), Err(MediaError::Scale { .. })));
        }
        let two = PixelScale::per_channel([(0.0, 1.0); 2]);
        assert!(matches!(two, Err(MediaError::ChannelCount { actual: 2 })));
    }
}
