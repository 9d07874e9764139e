//! Measures time and memory of exact enumeration on a table of all 2^n values, with one output.
//!
//! Prints one JSON line per n: the minimum time of several runs for Shapley values and for Shapley
//! interaction indices of order 2 and 3, and the peak memory of the process so far, including the table.
//! Usage: `enumeration [N]…`; by default 20 and 25.

use std::time::Instant;

use apportion::Semivalue;
use apportion::games::TabulatedGame;
use apportion::values::{InteractionIndex, enumerate, enumerate_interactions};
use apportion_benches::peak_memory_mib;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![20, 25];
    }
    for players in sizes {
        let game = TabulatedGame::from_fn(players, |mask| (mask as f64 * 0.618_033_988_75) % 1.0)?;
        let mut least = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            let enumeration = enumerate(&game, Semivalue::Shapley)?;
            least = least.min(start.elapsed().as_secs_f64());
            let total: f64 = enumeration.values.iter().sum();
            assert!((total - (enumeration.predictions[0] - enumeration.base[0])).abs() < 1e-10);
        }
        let mut of_order = [f64::INFINITY; 2];
        for (least, order) in of_order.iter_mut().zip([2, 3]) {
            for _ in 0..3 {
                let start = Instant::now();
                enumerate_interactions(&game, &InteractionIndex::SHAPLEY, order)?;
                *least = least.min(start.elapsed().as_secs_f64());
            }
        }
        let [pairs, triples] = of_order;
        let mib = peak_memory_mib().map_or("null".to_owned(), |mib| format!("{mib:.1}"));
        print!(r#"{{"n":{players},"wall_s":{least:.6},"pairs_s":{pairs:.6},"#);
        println!(r#""triples_s":{triples:.6},"peak_mib":{mib}}}"#);
    }
    Ok(())
}
