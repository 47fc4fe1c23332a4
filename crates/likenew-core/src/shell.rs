//! Words of commands that are printed for a person to paste into a shell.

/// A word that the shell takes literally, whatever characters it contains.
pub fn shell_quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-:@%+=,".contains(letter);
    // A word that begins with a dash would be taken for an option.
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_word_of_the_shell() {
        for plain in ["/dev/sda", "luks-0a1b", "/mnt/a_b.c"] {
            assert_eq!(shell_quote(plain), plain);
        }
        assert_eq!(shell_quote("/media/My Disk"), "'/media/My Disk'");
        assert_eq!(shell_quote("a';rm -rf /;'"), r"'a'\'';rm -rf /;'\'''");
        for odd in ["", "$(reboot)", "-x", "a\nb", "*", "ä", "sim:tiny-flash?fill=0.5", "a&b"] {
            assert!(shell_quote(odd).starts_with('\'') && shell_quote(odd).ends_with('\''), "{odd}");
        }
    }
}
