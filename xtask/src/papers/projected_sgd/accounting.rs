//! How evaluations are counted, and what that changes. Not in the paper.

use anyhow::{Context, Result, ensure};
use apportion::games::{Coalition, Coalitions, Counted, Game};
use apportion::samplers::permutation;

use super::convergence::{claim_of_comparisons, measured, panel, x_axis};
use super::method::{Accounting, Answer, Method, Step};
use super::runs::{HIGH, LOW, Measured, budget};
use super::task::{PairGame, Pairs, Task};
use crate::reproduce::catalogue::Made;
use crate::reproduce::figure::{Figure, Style};
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{Claim, Verdict};

/// Orders of the counts.
const ORDERS: usize = 64;

/// Counts, and the comparisons of figures 2 and 3 under each accounting.
pub(super) fn accounting(session: &Session) -> Result<Made> {
    let low = [Task::Classification, Task::Regression]
        .into_iter()
        .map(|task| measured(session, task, LOW))
        .collect::<Result<Vec<Measured>>>()?;
    let high = vec![measured(session, Task::Classification, HIGH)?];
    let mut claims = Vec::new();
    for accounting in Accounting::ALL {
        claims.push(claim_of_comparisons(
            &format!(
                "all proposed methods outperform classical Monte Carlo at d = {LOW} ({})",
                accounting.title()
            ),
            "section 5.2, figure 2",
            &low,
            &Method::proposed(LOW),
            &[Method::Classical],
            accounting,
        ));
        claims.push(claim_of_comparisons(
            &format!(
                "gradients have lower errors than optimized Monte Carlo at d = {HIGH} ({})",
                accounting.title()
            ),
            "section 5.2, figure 3",
            &high,
            &Method::gradients(HIGH),
            &[Method::Optimized],
            accounting,
        ));
    }
    let alike = no_verdict_changes(&claims);
    claims.push(alike);
    let counts =
        [LOW, HIGH].into_iter().map(|players| counts(session, players)).collect::<Result<Vec<Table>>>()?;
    let shown = |one: &Measured, accounting: Accounting, remark: &str| {
        let players = one.setting.players;
        panel(one, &of_paper(players), accounting, &x_axis(), &format!(", d = {players}: {remark}"))
    };
    let mut notes = super::notes();
    notes.push(
        "curves are the same draws, placed by what they cost; methods are compared at the costs of the proposed method's budgets, the \
         errors of the other taken between those of its two budgets next to it, pair by pair, linearly in the logarithm of the cost"
            .to_owned(),
    );
    notes.push(
        "\"measured\" counts the questions that a game was asked; Algorithm 1 as printed is written out here for this count; shapkit's are \
         read off its code"
            .to_owned(),
    );
    let panels = [&low[0], &high[0]]
        .into_iter()
        .flat_map(|one| [(one, Accounting::Ours, "ours"), (one, Accounting::Shapkit, "shapkit")]);
    Ok(Made {
        data: placed(low.iter().chain(&high)),
        figure: Some(Figure {
            title: "Squared error by two ways of counting evaluations".to_owned(),
            panels: panels.map(|(one, accounting, remark)| shown(one, accounting, remark)).collect(),
            columns: 2,
            legend: legend(),
            note: "Mean over the pairs with the 95 % interval of its logarithm.".to_owned(),
        }),
        tables: counts,
        claims,
        notes,
        datasets: Vec::new(),
    })
}

/// The methods of both figures, those once that differ in the size of their steps alone.
fn legend() -> Vec<(String, Style)> {
    let high = of_paper(HIGH);
    let entry = |method: Method| {
        let style = method.style();
        let other = high.iter().find(|other| other.style() == style && other.title() != method.title());
        let title = match other {
            Some(other) => format!("{} (d = {LOW}), {} (d = {HIGH})", method.title(), other.title()),
            None => method.title(),
        };
        (title, style)
    };
    of_paper(LOW).into_iter().map(entry).collect()
}

/// The methods of the paper's figure.
fn of_paper(players: usize) -> Vec<Method> {
    Method::of_figure(players).into_iter().filter(|method| method.is_of_paper()).collect()
}

fn no_verdict_changes(claims: &[Claim]) -> Claim {
    let verdicts = |which: usize| -> Vec<Verdict> {
        claims.iter().skip(which).step_by(2).map(|claim| claim.verdict).collect()
    };
    let mut found = Vec::new();
    for (which, figure) in [(0, "figure 2"), (1, "figure 3")] {
        let verdicts = verdicts(which);
        let words: Vec<&str> = verdicts.iter().map(|verdict| verdict.words()).collect();
        if verdicts.iter().any(|verdict| *verdict != Verdict::NotTested) {
            let are_alike = verdicts.iter().all(|verdict| *verdict == verdicts[0]);
            found.push((format!("{figure}: {}", words.join(", ")), are_alike));
        }
    }
    Claim::fact(
        "how evaluations are counted changes no verdict",
        "this project",
        "the verdicts are the same under all three accountings",
        (!found.is_empty()).then(|| found.iter().all(|found| found.1)),
        found.iter().map(|found| found.0.as_str()).collect::<Vec<_>>().join("; "),
    )
}

/// Algorithm 1 as it is printed: v(r) and all d values of an order are asked for in every iteration.
fn algorithm_1(game: &dyn Game, orders: usize, seed: u64) -> Result<Vec<f64>> {
    let players = game.players();
    let ask = |coalition: &Coalition| -> Result<f64> {
        let mut batch = Coalitions::new(players);
        batch.push(coalition.view());
        let mut value = [0.0];
        game.values(&batch, &mut value)?;
        Ok(value[0])
    };
    let mut mean = vec![0.0; players];
    for t in 1..=orders {
        let mut coalition = Coalition::empty(players);
        let mut before = ask(&coalition)?;
        for player in permutation(players, seed, t as u64) {
            coalition.insert(player);
            let after = ask(&coalition)?;
            mean[player] += (after - before - mean[player]) / t as f64;
            before = after;
        }
    }
    Ok(mean)
}

/// What `ORDERS` orders, or samples of all players, take.
fn counts(session: &Session, players: usize) -> Result<Table> {
    let game = PairGame::draw(Task::Classification, players, Pairs::Shown, 0, session.seed)?;
    let asked_by = |method: Method, budget: usize| -> Result<usize> {
        let counted = Counted::new(&game);
        let explanation = method.estimator().estimate(&counted, budget, session.seed)?;
        let asked = usize::try_from(counted.evaluations()).context("a count")?;
        ensure!(
            asked == explanation.evaluations,
            "{} says that it made {} evaluations, and made {asked}",
            method.title(),
            explanation.evaluations
        );
        Ok(asked)
    };
    let printed = Counted::new(&game);
    algorithm_1(&printed, ORDERS, session.seed)?;
    let (orders, rows) = (budget(players, ORDERS), ORDERS * players);
    let columns =
        ["method", "by", "once", "for each order or sample of all players", "evaluations", "measured"];
    let caption = format!(
        "Evaluations of {ORDERS} orders, or samples of all players; as many gradients as d for each: d = {players}"
    );
    let mut table = Table::new(caption, columns);
    let mut row = |method: &str, by: &str, once: usize, each: usize, measured: Option<usize>| {
        let measured = measured.map_or(Entry::ABSENT, Entry::from);
        table.push(vec![
            method.into(),
            by.into(),
            once.into(),
            each.into(),
            (once + ORDERS * each).into(),
            measured,
        ]);
    };
    row("classical Monte Carlo", "the paper", 0, 2 * players, None);
    row(
        "classical Monte Carlo",
        "ours, repeated coalitions asked once",
        2,
        2 * players,
        Some(asked_by(Method::Classical, 2 + 2 * rows)?),
    );
    row("optimized Monte Carlo", "the paper's text", 0, players, None);
    row(
        "optimized Monte Carlo",
        "Algorithm 1 as printed",
        0,
        players + 1,
        Some(usize::try_from(printed.evaluations())?),
    );
    row("optimized Monte Carlo", "shapkit, one reference", 1, players, None);
    row("optimized Monte Carlo", "shapkit, several references or in batches", 0, players + 1, None);
    row("optimized Monte Carlo", "ours", 2, players - 1, Some(asked_by(Method::Optimized, orders)?));
    row("antithetic Monte Carlo*", "ours", 2, players - 1, Some(asked_by(Method::Antithetic, orders)?));
    let step = Step::of_paper(players)[0];
    let gradient = Method::Gradient(step, Answer::Mean);
    row("SGD", "the paper", 0, players, None);
    row("SGD", "ours, and shapkit", 2, players, Some(asked_by(gradient, 2 + rows)?));
    Ok(table)
}

/// Every curve under every accounting.
fn placed<'a>(measured: impl Iterator<Item = &'a Measured>) -> Table {
    let columns = [
        "task",
        "d",
        "method",
        "accounting",
        "T",
        "cost",
        "evaluations_made",
        "mean_squared_error",
        "standard_error",
    ];
    let mut table = Table::new("data", columns);
    for one in measured {
        for curve in &one.curves {
            for accounting in Accounting::ALL {
                for (level, &passes) in curve.passes.iter().enumerate() {
                    let mean = curve.mean(level);
                    table.push(vec![
                        one.setting.task.title().into(),
                        one.setting.players.into(),
                        curve.method.title().into(),
                        accounting.title().into(),
                        passes.into(),
                        accounting.cost(curve.method, curve.players, passes).into(),
                        curve.evaluations[level].into(),
                        mean.map(|mean| mean.value).into(),
                        mean.map(|mean| mean.error).filter(|error| error.is_finite()).into(),
                    ]);
                }
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::Semivalue;
    use apportion::estimators::exact;

    #[test]
    fn algorithm_1_as_printed_converges_and_asks_d_plus_one_times_per_order() {
        let game = Counted::new(PairGame::draw(Task::Classification, 8, Pairs::Shown, 0, 0).unwrap());
        let estimate = algorithm_1(&game, 4000, 1).unwrap();
        assert_eq!(game.evaluations(), 9 * 4000);
        // A contribution is −1, 0 or 1: the standard error of a mean of 4000 is at most 0.016.
        for (value, exact) in estimate.iter().zip(exact(game.inner(), Semivalue::Shapley).unwrap().values) {
            assert!((value - exact).abs() < 0.07, "{value} {exact}");
        }
    }

    #[test]
    fn draws_cost_what_each_accounting_says() {
        let step = Method::Gradient(Step::of_paper(16)[0], Answer::Mean);
        let costs = |method| Accounting::ALL.map(|accounting| accounting.cost(method, 16, 10));
        assert_eq!(costs(Method::Optimized), [152, 160, 170]);
        assert_eq!(costs(Method::Classical), [152, 150, 150]);
        assert_eq!(costs(step), [152, 150, 152]);
    }
}
