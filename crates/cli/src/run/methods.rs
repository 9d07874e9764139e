//! `apportion methods`: lists the methods and the values that each computes.

use anyhow::Result;
use apportion::games::Graph;
use apportion::{Method, Partition, SolutionConcept, Value};
use apportion_files::Destination;

use crate::failure::Usage;
use crate::parse::methods::Methods;

/// The kinds of values in the list, as on the command line, with an example of each kind.
const KINDS: [(&str, &str); 17] = [
    ("shapley", "shapley"),
    ("banzhaf", "banzhaf"),
    ("weighted-banzhaf=P", "weighted-banzhaf=0.3"),
    ("beta=A,B", "beta=4,1"),
    ("mixture=…", "mixture=0.2:0.5,0.6:0.5"),
    ("size-distribution=…", "size-distribution=0.25,0.25,0.25,0.25"),
    ("owen", "owen"),
    ("banzhaf-owen", "banzhaf-owen"),
    ("coalitional=BETWEEN/WITHIN", "coalitional=shapley/beta=4,1"),
    ("two-step", "two-step"),
    ("quotient-shapley", "quotient-shapley"),
    ("quotient-NAME", "quotient-beta=4,1"),
    ("l-shapley=K", "l-shapley=1"),
    ("c-shapley=K", "c-shapley=1"),
    ("myerson", "myerson"),
    ("l-banzhaf=K", "l-banzhaf=1"),
    ("local=K/NAME", "local=1/beta=4,1"),
];

/// Lists the methods.
pub(crate) fn run(args: &Methods) -> Result<()> {
    let list = match &args.value {
        Some(value) => {
            let value = example(value)?;
            lines(Method::all().filter(|method| method.computes(&value)).map(|method| (method, None)))
        }
        None => {
            let values = examples()?;
            lines(Method::all().map(|method| (method, Some(computed(method, &values)))))
        }
    };
    Destination::Standard.write(|out| Ok(out.write_all(list.as_bytes())?))
}

/// Returns the value of this solution concept for four players. If the concept requires groups or a graph,
/// the players are in two groups or on a line. Whether a method supports a value does not depend on the
/// players, the groups or the graph.
fn example(concept: &SolutionConcept) -> Result<Value> {
    let groups = match concept.needs_partition() {
        true => Some(Partition::new(4, vec![vec![0, 1], vec![2, 3]])?),
        false => None,
    };
    let graph = concept.needs_graph().then(|| Graph::line(4));
    Ok(Value::from_concept(concept.clone(), groups, graph)
        .map_err(|error| Usage(format!("--value {concept}: {error}")))?)
}

/// Returns an example of each kind of value.
fn examples() -> Result<Vec<(&'static str, Value)>> {
    KINDS.into_iter().map(|(kind, of_it)| Ok((kind, example(&of_it.parse()?)?))).collect()
}

/// Returns the kinds of `values` that `method` computes.
fn computed(method: Method, values: &[(&'static str, Value)]) -> String {
    let names: Vec<&str> =
        values.iter().filter(|(_, value)| method.computes(value)).map(|(kind, _)| *kind).collect();
    if names.len() == values.len() { "all".to_owned() } else { names.join(", ") }
}

/// Formats each method on a line, followed by a line with the values that it computes.
fn lines(methods: impl Iterator<Item = (Method, Option<String>)>) -> String {
    let width = Method::all().map(|method| method.name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for (method, values) in methods {
        text.push_str(&format!("{:<width$}  {}\n", method.name(), method.help()));
        if let Some(values) = values {
            text.push_str(&format!("{:width$}    values: {values}\n", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_computes_some_of_the_values_that_are_told() {
        let values = examples().unwrap();
        for method in Method::all() {
            assert!(!computed(method, &values).is_empty(), "{method}");
        }
    }
}
