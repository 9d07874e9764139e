//! Occupied areas, to keep labels from overlapping.

/// The occupied rectangles.
#[derive(Debug, Default)]
pub(super) struct OccupiedAreas(Vec<Area>);

/// A rectangle, given by the ranges of its coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
}

impl OccupiedAreas {
    /// Occupies these areas if all of them are free. Returns whether they were free.
    pub(super) fn try_reserve(&mut self, areas: &[Area]) -> bool {
        let is_free = !areas.iter().any(|area| self.0.iter().any(|taken| area.meets(taken)));
        if is_free {
            self.0.extend_from_slice(areas);
        }
        is_free
    }
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        let overlap = |one: (f64, f64), other: (f64, f64)| one.0 < other.1 && other.0 < one.1;
        overlap(self.x, other.x) && overlap(self.y, other.y)
    }
}
