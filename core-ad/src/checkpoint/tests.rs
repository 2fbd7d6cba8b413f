//! Schedules: valid, within their snapshots, and as cheap as is proven possible.

use super::binomial::advances;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Runs a schedule on a state that is its own step number; fails where an action is not possible. Returns what it cost.
fn simulate(steps: usize, schedule: Schedule) -> Cost {
    let (slots, mut held) = (schedule.slots(), BTreeMap::new());
    let (mut state, mut left, mut cost) = (Some(0), steps, Cost::default());
    for action in schedule {
        match action {
            Action::Store { step, slot } => {
                assert_eq!(state, Some(step));
                assert!(slot < slots && held.insert(slot, step).is_none(), "the slot {slot} is free");
                cost.stores += 1;
            }
            Action::Advance { from, to } => {
                assert!(state == Some(from) && from < to && to < left);
                state = Some(to);
                cost.advanced += (to - from) as u64;
            }
            Action::Restore { step, slot, last } => {
                assert_eq!(held.get(&slot), Some(&step));
                if last {
                    held.remove(&slot);
                }
                state = Some(step);
                cost.restores += 1;
            }
            Action::Reverse { step } => {
                assert_eq!((state, step + 1), (Some(step), left));
                (state, left) = (None, step);
            }
        }
    }
    assert_eq!(left, 0, "every step is reversed");
    assert!(held.is_empty());
    cost
}

/// The optimum by dynamic programming, without any formula: forward steps, and among the schedules with so few the snapshots.
fn best(steps: usize, snapshots: usize) -> Vec<Vec<(u64, u64)>> {
    let mut table = vec![vec![(0, 0); steps + 1]; snapshots + 1];
    for l in 2..=steps {
        table[1][l] = ((l * (l - 1) / 2) as u64, 1);
        for s in 2..=snapshots {
            // The snapshot at the beginning is counted once, with the part behind the next one.
            let one = |m: usize| {
                let (behind, before) = (table[s - 1][l - m], table[s][m]);
                let own = u64::from(before.1 == 0);
                (m as u64 + behind.0 + before.0, behind.1 + before.1 + own)
            };
            table[s][l] = (1..l).map(one).min().expect("a distance").min(table[s - 1][l]);
        }
    }
    table
}

#[test]
fn the_binomial_schedule_is_optimal() {
    let table = best(70, 12);
    for (s, row) in table.iter().enumerate().skip(1) {
        for (l, best) in row.iter().enumerate().skip(1) {
            let cost = simulate(l, Schedule::binomial(l, s));
            assert_eq!(cost.advanced, best.0, "{l} steps, {s} snapshots");
            assert_eq!(cost.advanced, advances(l, s), "{l} steps, {s} snapshots");
            assert!(cost.stores == best.1, "{l} steps, {s} snapshots: {cost:?}, {best:?}");
        }
    }
}

#[test]
fn long_loops_cost_what_the_formula_says() {
    for steps in [10, 100, 1000, 10_000] {
        for snapshots in [1, 2, 5, 20, 100] {
            let cost = Cost::of(Schedule::binomial(steps, snapshots));
            assert_eq!(cost.advanced, advances(steps, snapshots), "{steps} steps, {snapshots} snapshots");
        }
    }
    // Known values: 10 000 steps with 20 snapshots run less than four times.
    assert_eq!(advances(10_000, 1), 49_995_000);
    assert_eq!(advances(10_000, 20), 4 * 10_000 - 2024);
    assert_eq!(advances(10_000, 10_000), 9_999);
}

#[test]
fn few_steps_need_few_actions() {
    let all = |steps, snapshots| Schedule::binomial(steps, snapshots).collect::<Vec<_>>();
    assert_eq!(all(0, 3), []);
    assert_eq!(all(1, 3), [Action::Reverse { step: 0 }]);
    let kept = [
        Action::Store { step: 0, slot: 0 },
        Action::Advance { from: 0, to: 1 },
        Action::Reverse { step: 1 },
        Action::Restore { step: 0, slot: 0, last: true },
        Action::Reverse { step: 0 },
    ];
    assert_eq!(all(2, 0), kept);
    assert_eq!(all(2, usize::MAX), kept);
}

#[test]
fn periodic_snapshots_run_each_step_at_most_twice() {
    for steps in 1..200 {
        let least = Schedule::periodic(steps, 1).err().unwrap_or(1);
        for snapshots in [least, least + 1, 2 * least, steps] {
            let schedule = Schedule::periodic(steps, snapshots).expect("enough");
            let cost = simulate(steps, schedule);
            assert!(cost.advanced < 2 * steps as u64, "{steps} steps, {snapshots} snapshots");
        }
        assert!(least < 2 || Schedule::periodic(steps, least - 1) == Err(least));
    }
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        self.clone().eq(other.clone())
    }
}

proptest! {
    #[test]
    fn every_schedule_reverses_every_step(steps in 0_usize..600, snapshots in 0_usize..80) {
        let cost = simulate(steps, Schedule::binomial(steps, snapshots));
        prop_assert_eq!(cost.advanced, advances(steps, snapshots.max(1)));
        prop_assert_eq!(cost, Cost::of(Schedule::binomial(steps, snapshots)));
        if let Ok(schedule) = Schedule::periodic(steps, snapshots) {
            simulate(steps, schedule);
        }
    }

    #[test]
    fn more_snapshots_never_cost_more(steps in 1_usize..100_000, snapshots in 1_usize..300) {
        prop_assert!(advances(steps, snapshots + 1) <= advances(steps, snapshots));
        prop_assert!(advances(steps, snapshots) + 1 >= steps as u64);
    }
}
