/* SPDX-License-Identifier: Apache-2.0 */
/* rust MILLISECONDS: Rust names that a profiler must read.
 *
 * What a truthful profiler says: nearly all samples are in
 *	<rust::Mill<u64> as rust::Grind>::grind
 * (v0 mangling; <rust::Mill<T> as rust::Grind>::grind with the older one).
 */
use std::time::{Duration, Instant};

trait Grind {
    fn grind(&self, x: u64) -> u64;
}

struct Mill<T> {
    factor: T,
}

impl<T: Copy + Into<u64>> Grind for Mill<T> {
    #[inline(never)]
    fn grind(&self, mut x: u64) -> u64 {
        let factor: u64 = self.factor.into();
        for _ in 0..20000 {
            x = x.wrapping_mul(factor).wrapping_add(1442695040888963407);
        }
        x
    }
}

fn main() {
    let ms: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0);
    if ms == 0 {
        eprintln!("usage: rust MILLISECONDS");
        std::process::exit(2);
    }
    let mill = Mill { factor: 6364136223846793005u64 };
    let start = Instant::now();
    let mut x = 1;
    while start.elapsed() < Duration::from_millis(ms) {
        x = mill.grind(x);
    }
    println!("{x}");
}
