//! Compares projections on intersections of convex sets with closed forms, with bisection on the multiplier,
//! and with the definition of a projection.

use apportion_solvers::{
    Ball, ConvexSet, Cuboid, HalfSpace, Hyperplane, SolverError, Stopping, Sweeps, dykstra,
    dykstra_on_hyperplane_and_ball, project_on_hyperplane_and_ball,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn vector(rng: &mut ChaCha8Rng, dimensions: usize) -> Vec<f64> {
    (0..dimensions).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn scaled(rng: &mut ChaCha8Rng, dimensions: usize, factor: f64) -> Vec<f64> {
    vector(rng, dimensions).iter().map(|x| factor * x).collect()
}

/// Returns the dot product of the directions from `nearest` to `point` and to `other`. It is positive if the
/// angle is acute.
fn angle(point: &[f64], nearest: &[f64], other: &[f64]) -> f64 {
    point.iter().zip(nearest).zip(other).map(|((x, p), y)| (x - p) * (y - p)).sum()
}

/// Returns a normal without small entries.
fn normal(rng: &mut ChaCha8Rng, dimensions: usize) -> Vec<f64> {
    vector(rng, dimensions).iter().map(|a| a + a.signum() * 0.1).collect()
}

/// Checks that Dykstra's algorithm finds the expected point.
fn assert_found(sets: &[&dyn ConvexSet], point: &[f64], wanted: &[f64]) {
    let run = dykstra(sets, point, Stopping::default()).unwrap();
    let error = distance(&run.point, wanted);
    assert!(error < 1e-10 * (1.0 + norm(point)), "{}: {error} after {}", point.len(), run.iterations);
}

/// The relative position of plane and ball.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Case {
    Crossing,
    Touching,
    AllButTouching,
    Apart,
}

/// Returns a random plane and ball, and the distance between the plane and the centre of the ball.
fn plane_and_ball(rng: &mut ChaCha8Rng, dimensions: usize, case: Case) -> (Hyperplane, Ball, f64) {
    let all_ones = rng.random_range(0..2) == 0;
    // Use integers, so that the distance has rounding errors only from the norm and the quotient.
    let normal: Vec<f64> = if all_ones {
        vec![1.0; dimensions]
    } else {
        let mut normal: Vec<f64> = (0..dimensions).map(|_| f64::from(rng.random_range(-3i32..=3))).collect();
        normal[0] = 2.0;
        normal
    };
    let centre: Vec<f64> = if rng.random_range(0..2) == 0 {
        vec![0.0; dimensions]
    } else {
        (0..dimensions).map(|_| f64::from(rng.random_range(-2i32..=2))).collect()
    };
    let along = dot(&normal, &centre);
    let offset =
        along + f64::from(rng.random_range(1i32..20)) * if rng.random_range(0..2) == 0 { 1.0 } else { -1.0 };
    let height = (offset - along).abs() / norm(&normal);
    let radius = match case {
        Case::Crossing => height * rng.random_range(1.001..4.0),
        Case::Touching => height,
        Case::AllButTouching => height * (1.0 + 10f64.powf(rng.random_range(-12.0..-3.0))),
        Case::Apart => height * (1.0 - 10f64.powf(rng.random_range(-14.0..-0.1))),
    };
    let plane = if all_ones {
        Hyperplane::with_sum(dimensions, offset)
    } else {
        Hyperplane::new(normal.clone(), offset)
    };
    (plane.unwrap(), Ball::new(centre, radius).unwrap(), height)
}

#[test]
fn dykstra_gives_the_closed_form_wherever_plane_and_ball_meet_and_an_error_elsewhere() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // Points are up to 2000 times as far away as the result. The tolerance is relative to the larger norm, so
    // it must be small.
    let stopping = Stopping { tolerance: 1e-15, ..Stopping::default() };
    let mut most = [0; 2];
    for index in 0..10_000 {
        // Small dimensions occur as often as large ones.
        let dimensions = 2f64.powf(rng.random_range(1.0..9.9658)) as usize;
        let case = [Case::Crossing, Case::Touching, Case::AllButTouching, Case::Apart][index % 4];
        let (plane, ball, ..) = plane_and_ball(&mut rng, dimensions, case);
        let far = 10f64.powf(rng.random_range(-1.0..2.0));
        let point: Vec<f64> =
            vector(&mut rng, dimensions).iter().zip(ball.centre()).map(|(x, c)| c + far * x).collect();
        let closed = project_on_hyperplane_and_ball(&plane, &ball, &point);
        let run = dykstra_on_hyperplane_and_ball(&plane, &ball, &point, stopping, Sweeps::Extrapolated);
        if case == Case::Apart {
            assert!(matches!(closed, Err(SolverError::EmptyIntersection { apart }) if apart > 0.0));
            assert!(matches!(run, Err(SolverError::EmptyIntersection { apart }) if apart > 0.0));
            continue;
        }
        let (closed, run) = (closed.unwrap(), run.unwrap());
        let error = distance(&closed, &run.point);
        assert!(error < 1e-10, "case {index}, {dimensions} dimensions, {case:?}: {error}");
        most[usize::from(case == Case::Touching)] =
            most[usize::from(case == Case::Touching)].max(run.iterations);
        if case == Case::Touching {
            // The foot of the perpendicular is the only common point.
            let mut foot = ball.centre().to_vec();
            plane.project(&mut foot);
            assert!((distance(&foot, ball.centre()) - ball.radius()).abs() < 1e-12 * ball.radius());
            assert!(distance(&foot, &closed) < 1e-10);
        }
    }
    assert!(most[0] <= 80 && most[1] <= 120, "{most:?}");
}

#[test]
fn sets_given_by_their_projections_alone_give_the_closed_form_too() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..400 {
        let dimensions = 2f64.powf(rng.random_range(1.0..9.9658)) as usize;
        // If the plane crosses the sphere at an angle whose sine is r/D, sweeps reduce the error by a factor
        // of about 1 − (r/D)³ D/‖u‖.
        let (plane, ball, ..) =
            std::iter::repeat_with(|| plane_and_ball(&mut rng, dimensions, Case::Crossing))
                .find(|(_, ball, height)| ball.radius() > 1.1 * height)
                .unwrap();
        let far = ball.radius() * rng.random_range(0.1..6.0) / (dimensions as f64).sqrt();
        let point: Vec<f64> =
            vector(&mut rng, dimensions).iter().zip(ball.centre()).map(|(x, c)| c + far * x).collect();
        let closed = project_on_hyperplane_and_ball(&plane, &ball, &point).unwrap();
        for sets in [[&plane as &dyn ConvexSet, &ball], [&ball, &plane]] {
            let run = dykstra(&sets, &point, Stopping::default()).unwrap();
            let error = distance(&closed, &run.point) / norm(&point).max(norm(&closed));
            assert!(error < 1e-10, "{dimensions} dimensions: {error}, {} sweeps", run.iterations);
        }
        let plain = dykstra_on_hyperplane_and_ball(&plane, &ball, &point, Stopping::default(), Sweeps::Plain);
        assert!(distance(&closed, &plain.unwrap().point) < 1e-10 * norm(&point).max(norm(&closed)));
    }
}

#[test]
fn the_closed_form_is_in_both_sets_and_no_common_point_is_nearer() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for index in 0..2000 {
        let dimensions = rng.random_range(2..40);
        let case = [Case::Crossing, Case::Touching, Case::AllButTouching][index % 3];
        let (plane, ball, ..) = plane_and_ball(&mut rng, dimensions, case);
        let point = scaled(&mut rng, dimensions, 30.0);
        let nearest = project_on_hyperplane_and_ball(&plane, &ball, &point).unwrap();
        let mut on_plane = nearest.clone();
        plane.project(&mut on_plane);
        assert!(distance(&on_plane, &nearest) < 1e-12 * norm(&point));
        assert!(distance(&nearest, ball.centre()) <= ball.radius() * (1.0 + 1e-12));
        // The angle with every other common point must not be acute.
        for _ in 0..20 {
            let far = scaled(&mut rng, dimensions, 10.0);
            let other = project_on_hyperplane_and_ball(&plane, &ball, &far).unwrap();
            let cosine = angle(&point, &nearest, &other);
            assert!(cosine <= 1e-10 * norm(&point).powi(2), "{cosine}");
        }
    }
}

/// Returns the λ at which a decreasing function crosses zero.
fn root(falling: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if falling(middle) > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[test]
fn a_box_and_a_plane_give_what_bisection_on_the_multiplier_gives() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..200 {
        let dimensions = [1, 2, 3, 10, 65, 130, 1000][round % 7];
        let lower: Vec<f64> = vector(&mut rng, dimensions);
        let upper: Vec<f64> = lower
            .iter()
            .map(|l| if rng.random_range(0..4) == 0 { f64::INFINITY } else { l + rng.random_range(0.0..2.0) })
            .collect();
        let normal = normal(&mut rng, dimensions);
        // Choose a plane through a point of the box.
        let inner: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| l + 0.5 * (u.min(l + 1.0) - l)).collect();
        let offset = dot(&normal, &inner);
        let point = scaled(&mut rng, dimensions, 4.0);
        let at = |lambda: f64| -> Vec<f64> {
            let moved = point.iter().zip(&normal).zip(lower.iter().zip(&upper));
            moved.map(|((x, a), (l, u))| (x - lambda * a).clamp(*l, *u)).collect()
        };
        let wanted = at(root(|lambda| dot(&normal, &at(lambda)) - offset, -1e3, 1e3));
        let plane = Hyperplane::new(normal.clone(), offset).unwrap();
        let cuboid = Cuboid::new(lower.clone(), upper.clone()).unwrap();
        assert_found(&[&plane, &cuboid], &point, &wanted);
    }
}

#[test]
fn a_half_space_and_a_ball_give_what_bisection_on_the_multiplier_gives() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for round in 0..200 {
        let dimensions = [1, 2, 3, 10, 65, 130, 1000][round % 7];
        let normal = normal(&mut rng, dimensions);
        let ball = Ball::new(vector(&mut rng, dimensions), rng.random_range(0.5..2.0)).unwrap();
        let offset =
            dot(&normal, ball.centre()) + norm(&normal) * ball.radius() * rng.random_range(-0.8..1.3);
        let half_space = HalfSpace::new(normal.clone(), offset).unwrap();
        let point = scaled(&mut rng, dimensions, 3.0);
        let at = |lambda: f64| -> Vec<f64> {
            let mut moved: Vec<f64> = point.iter().zip(&normal).map(|(x, a)| x - lambda * a).collect();
            ball.project(&mut moved);
            moved
        };
        let excess = |lambda: f64| dot(&normal, &at(lambda)) - offset;
        let wanted = if excess(0.0) <= 0.0 { at(0.0) } else { at(root(excess, 0.0, 1e4)) };
        assert_found(&[&half_space, &ball], &point, &wanted);
    }
}

#[test]
fn of_four_sets_no_common_point_is_nearer() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for _ in 0..30 {
        let dimensions = rng.random_range(3..30);
        let plane = Hyperplane::with_sum(dimensions, 1.0).unwrap();
        let cuboid = Cuboid::new(vec![0.0; dimensions], vec![1.0; dimensions]).unwrap();
        let ball = Ball::new(vec![0.0; dimensions], 0.8).unwrap();
        let mut normal = vec![0.0; dimensions];
        normal[0] = 1.0;
        let half_space = HalfSpace::new(normal, 0.4).unwrap();
        let sets: [&dyn ConvexSet; 4] = [&plane, &cuboid, &ball, &half_space];
        let project = |point: &[f64]| {
            dykstra(&sets, point, Stopping { tolerance: 1e-12, iterations: 1_000_000 }).unwrap().point
        };
        let point = scaled(&mut rng, dimensions, 2.0);
        let nearest = project(&point);
        for set in sets {
            let mut moved = nearest.clone();
            set.project(&mut moved);
            assert!(distance(&moved, &nearest) < 1e-10);
        }
        for _ in 0..10 {
            let other = project(&vector(&mut rng, dimensions));
            let cosine = angle(&point, &nearest, &other);
            assert!(cosine <= 1e-9, "{cosine}");
        }
    }
}

#[test]
fn a_point_of_the_intersection_stays_where_it_is() {
    let point = [0.25, 0.25, 0.5];
    let plane = Hyperplane::with_sum(3, 1.0).unwrap();
    let ball = Ball::new(vec![0.0; 3], 1.0).unwrap();
    let run = dykstra(&[&plane, &ball], &point, Stopping::default()).unwrap();
    assert_eq!(run.point, point);
    let zero = dykstra(&[&ball], &[0.0; 3], Stopping::default()).unwrap();
    assert_eq!((zero.point, zero.iterations), (vec![0.0; 3], 1));
}

#[test]
fn sets_without_a_common_point_are_found_out() {
    let plane = Hyperplane::with_sum(4, 2.2).unwrap();
    let ball = Ball::new(vec![0.0; 4], 1.0).unwrap();
    let refused = dykstra(&[&plane, &ball], &[3.0, 1.0, -1.0, 0.0], Stopping::default()).unwrap_err();
    assert!(
        matches!(refused, SolverError::EmptyIntersection { apart } if (apart - 0.1).abs() < 1e-2),
        "{refused}"
    );
    let low = Cuboid::new(vec![0.0; 2], vec![1.0, 1.0]).unwrap();
    let high = Cuboid::new(vec![1.5, 0.0], vec![f64::INFINITY, 1.0]).unwrap();
    let refused = dykstra(&[&low, &high], &[0.5, 0.5], Stopping::default()).unwrap_err();
    assert!(matches!(refused, SolverError::EmptyIntersection { apart } if (apart - 0.5).abs() < 1e-9));
    // Without a bounded set the proof is impossible: the limit is reached, and the distance between the sets
    // is reported.
    let left = HalfSpace::new(vec![1.0, 0.0], 0.0).unwrap();
    let right = HalfSpace::new(vec![-1.0, 0.0], -0.25).unwrap();
    let stopping = Stopping { iterations: 500, ..Stopping::default() };
    let refused = dykstra(&[&left, &right], &[0.5, 0.5], stopping).unwrap_err();
    assert!(matches!(
        refused,
        SolverError::NotSettled { iterations: 500, apart, .. } if (apart - 0.25).abs() < 1e-12
    ));
}

#[test]
fn creeping_towards_a_point_of_contact_is_not_taken_for_an_answer() {
    let (plane, ball) = (Hyperplane::with_sum(4, 2.0).unwrap(), Ball::new(vec![0.0; 4], 1.0).unwrap());
    let point = [2.0, 0.0, 0.0, 0.0];
    let stopping = Stopping { tolerance: 1e-8, iterations: 3000 };
    let refused = dykstra(&[&plane, &ball], &point, stopping).unwrap_err();
    assert!(matches!(refused, SolverError::NotSettled { remaining, .. } if remaining > 0.01), "{refused}");
    let refused = dykstra_on_hyperplane_and_ball(&plane, &ball, &point, stopping, Sweeps::Plain).unwrap_err();
    assert!(matches!(refused, SolverError::NotSettled { remaining, .. } if remaining > 0.01), "{refused}");
    let run = dykstra_on_hyperplane_and_ball(&plane, &ball, &point, stopping, Sweeps::Extrapolated).unwrap();
    assert!(run.point.iter().all(|x| (x - 0.5).abs() < 1e-8) && run.iterations < 60);
}

#[test]
fn what_is_no_set_is_refused() {
    let bad = |result: Result<Ball, SolverError>| result.unwrap_err();
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(bad(Ball::new(vec![0.0], radius)), SolverError::Radius { .. }));
    }
    assert!(matches!(bad(Ball::new(vec![0.0, f64::NAN], 1.0)), SolverError::NotFinite { index: 1, .. }));
    for normal in [vec![], vec![0.0; 3], vec![1e-200], vec![1e200]] {
        assert!(
            matches!(Hyperplane::new(normal.clone(), 1.0), Err(SolverError::Normal { .. })),
            "{normal:?}"
        );
        assert!(matches!(HalfSpace::new(normal, 1.0), Err(SolverError::Normal { .. })));
    }
    assert!(matches!(Hyperplane::with_sum(0, 1.0), Err(SolverError::Normal { .. })));
    assert!(matches!(Hyperplane::with_sum(2, f64::NAN), Err(SolverError::NotFinite { .. })));
    assert!(matches!(HalfSpace::new(vec![1.0], f64::INFINITY), Err(SolverError::NotFinite { .. })));
    for (lower, upper) in [(1.0, 0.0), (f64::NAN, 1.0), (f64::INFINITY, f64::INFINITY), (0.0, f64::NAN)] {
        let refused = Cuboid::new(vec![0.0, lower], vec![0.0, upper]).unwrap_err();
        assert!(matches!(refused, SolverError::Bounds { index: 1, .. }), "{lower}, {upper}");
    }
    assert_eq!(
        Cuboid::new(vec![0.0; 2], vec![1.0; 3]),
        Err(SolverError::Dimensions { actual: 3, expected: 2 })
    );
}

#[test]
fn what_cannot_be_projected_is_refused() {
    let (plane, ball) = (Hyperplane::with_sum(2, 1.0).unwrap(), Ball::new(vec![0.0; 2], 1.0).unwrap());
    let run = |point: &[f64], stopping| dykstra(&[&plane, &ball], point, stopping).unwrap_err();
    assert_eq!(dykstra(&[], &[1.0], Stopping::default()).unwrap_err(), SolverError::NoSets);
    assert_eq!(run(&[1.0; 3], Stopping::default()), SolverError::Dimensions { actual: 2, expected: 3 });
    assert!(matches!(run(&[1.0, f64::NAN], Stopping::default()), SolverError::NotFinite { index: 1, .. }));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let stopping = Stopping { tolerance, ..Stopping::default() };
        assert!(matches!(run(&[1.0; 2], stopping), SolverError::Tolerance { .. }));
    }
    let none = Stopping { iterations: 0, ..Stopping::default() };
    assert!(matches!(run(&[1.0; 2], none), SolverError::NotSettled { iterations: 0, .. }));
    assert!(matches!(
        project_on_hyperplane_and_ball(&plane, &ball, &[1.0]),
        Err(SolverError::Dimensions { .. })
    ));
    assert!(matches!(
        project_on_hyperplane_and_ball(&plane, &ball, &[1.0, f64::INFINITY]),
        Err(SolverError::NotFinite { .. })
    ));
}
