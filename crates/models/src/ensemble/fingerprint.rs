//! Hashes that identify ensembles.

use sha2::{Digest, Sha256};

use super::{Category, CategorySet, Ensemble, Rule, Width};

impl Ensemble {
    /// Returns a hash that identifies the function from rows to margins: SHA-256 of the number of features,
    /// the width of numbers, the base margins, and for each tree (also [joint](Self::joint) trees, with their
    /// statistics) its output and its nodes in order, with thresholds, rules, default directions and leaves.
    /// Names of features, cover, links and the origin of the model are not included.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Hash(Sha256::new());
        hash.text("apportion ensemble 1");
        hash.number(self.feature_count());
        hash.number(match self.width {
            Width::Single => 32,
            Width::Double => 64,
        });
        hash.floats(self.base_margins());
        hash.number(self.trees.len());
        for tree in self.trees() {
            let nodes = self.nodes_of(tree);
            hash.number(tree.output);
            hash.number(nodes.len());
            for &node in nodes {
                if node.is_leaf() {
                    hash.float(node.value());
                    match self.linear_leaf(node) {
                        None => hash.text("leaf"),
                        Some(model) => {
                            hash.text("linear leaf");
                            hash.float(model.constant);
                            hash.number(model.terms.len());
                            for &(feature, coefficient) in &model.terms {
                                hash.number(feature as usize);
                                hash.float(coefficient);
                            }
                        }
                    }
                    continue;
                }
                hash.number(node.left());
                hash.number(node.feature() << 1 | usize::from(node.default_left()));
                match node.is_ruled().then(|| &self.rules[node.rule()]) {
                    None => {
                        hash.text("below");
                        hash.float(node.threshold());
                    }
                    Some(rule) => hash.rule(rule),
                }
            }
        }
        if let Some(joint) = self.joint() {
            hash.text("joint");
            hash.0.update(joint.ensemble().fingerprint());
            joint.statistics().iter().for_each(|statistic| hash.0.update(statistic.digest()));
        }
        hash.0.finalize().into()
    }

    /// Returns a hash of everything on which explanations depend: SHA-256 of the
    /// [fingerprint](Self::fingerprint), the cover, the link, the names of features and outputs, and the
    /// categories of features with their codes. The origin of the model is not included.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Hash(Sha256::new());
        hash.text("apportion model 1");
        hash.0.update(self.fingerprint());
        hash.floats(&self.cover);
        // The fingerprint includes joint trees, but not their cover, so their whole digest is added.
        if let Some(joint) = self.joint() {
            hash.0.update(joint.ensemble().digest());
        }
        hash.text(&format!("{:?}", self.link()));
        let names = [self.feature_names(), self.output_names(), self.class_names()];
        for names in names.map(Option::unwrap_or_default) {
            hash.number(names.len());
            names.iter().for_each(|name| hash.text(name));
        }
        for words in &self.categories {
            let Some(words) = words else {
                hash.text("numbers");
                continue;
            };
            hash.text(&format!("{:?}", words.unknown()));
            hash.number(words.list().len());
            for category in words.list() {
                let code = match category {
                    Category::Text(text) => {
                        hash.text(text);
                        words.code_of_text(text)
                    }
                    Category::Number(number) => {
                        hash.float(*number);
                        words.code_of_number(*number)
                    }
                };
                hash.float(code.unwrap_or(f64::NAN));
            }
        }
        hash.0.finalize().into()
    }
}

struct Hash(Sha256);

impl Hash {
    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_le_bytes());
    }

    fn float(&mut self, number: f64) {
        self.0.update(number.to_bits().to_le_bytes());
    }

    fn floats(&mut self, numbers: &[f64]) {
        self.number(numbers.len());
        numbers.iter().for_each(|&number| self.float(number));
    }

    fn rule(&mut self, rule: &Rule) {
        match rule {
            Rule::Set { members, members_go_left, negative_fraction_is_zero } => {
                self.text("set");
                self.number(usize::from(*members_go_left) << 1 | usize::from(*negative_fraction_is_zero));
                match members {
                    CategorySet::Dense(words) => {
                        self.number(words.len());
                        words.iter().for_each(|word| self.0.update(word.to_le_bytes()));
                    }
                    CategorySet::Sparse(members) => {
                        self.number(members.len());
                        members.iter().for_each(|&member| self.number(member as usize));
                    }
                }
            }
            Rule::Exactly(numbers) => {
                self.text("exactly");
                self.floats(numbers);
            }
            Rule::Between { lowest, highest } => {
                self.text("between");
                self.float(*lowest);
                self.float(*highest);
            }
            Rule::Except { threshold, numbers } => {
                self.text("except");
                self.float(*threshold);
                self.floats(numbers);
            }
            Rule::ZeroIsMissing { threshold } => {
                self.text("zero is missing");
                self.float(*threshold);
            }
            Rule::Hashed(hash) => {
                self.text("hashed");
                self.number(*hash as usize);
            }
            Rule::Statistic { statistic, border } => {
                self.text("statistic");
                self.0.update(statistic.digest());
                self.float(*border);
            }
        }
    }
}
