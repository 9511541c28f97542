//! A value that must not be shown. Leaking one takes the word `expose`.

use subtle::ConstantTimeEq as _;
use zeroize::Zeroize;

/// No `Display`, no serialization, no `PartialEq`; `Debug` prints a mask; the bytes are wiped on drop.
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    pub fn new(value: T) -> Secret<T> {
        Secret(value)
    }

    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize + AsRef<[u8]>> Secret<T> {
    /// Takes the same time wherever the first difference is. The length is not hidden.
    pub fn matches(&self, offered: &Secret<T>) -> bool {
        self.0.as_ref().ct_eq(offered.0.as_ref()).into()
    }
}

impl<T: Zeroize + Clone> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Secret(self.0.clone())
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_a_mask_and_comparison_works() {
        let secret = Secret::new(String::from("hunter2"));
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert!(secret.matches(&Secret::new(String::from("hunter2"))));
        assert!(!secret.matches(&Secret::new(String::from("hunter3"))));
        assert!(!secret.matches(&Secret::new(String::from("hunter22"))));
    }
}
