//! Games that are nonzero iff certain players are taken from the explicand and certain others are not. Linear
//! leaves are sums of such games.

/// The game `v · [E, R] + Σ_q d_q · [E ∪ {q}, R]`, with the players q in neither E nor R.
#[derive(Default)]
pub(crate) struct Products {
    /// The players E.
    pub(crate) own: Vec<u32>,
    /// The players R.
    pub(crate) rest: Vec<u32>,
    /// The players q, each with its d_q.
    pub(crate) extensions: Vec<(u32, f64)>,
}

impl Products {
    pub(crate) fn clear(&mut self) {
        self.own.clear();
        self.rest.clear();
        self.extensions.clear();
    }

    /// Adds a player to E if it must be taken from the explicand, otherwise to R.
    pub(crate) fn require(&mut self, player: u32, from_explicand: bool) {
        if from_explicand { &mut self.own } else { &mut self.rest }.push(player);
    }
}
