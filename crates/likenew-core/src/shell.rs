//! Words of commands that are printed for a person to paste into a shell.

/// A word that the shell takes as it is, whatever characters are in it. Quotes do not keep a program from taking a word that
/// begins with a dash for an option.
pub fn shell_quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-:@%+=,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_word_of_the_shell() {
        for plain in ["/dev/sda", "luks-0a1b", "/mnt/a_b.c", "--details", "sim:tiny-flash"] {
            assert_eq!(shell_quote(plain), plain);
        }
        assert_eq!(shell_quote("/media/My Disk"), "'/media/My Disk'");
        assert_eq!(shell_quote("a';rm -rf /;'"), r"'a'\'';rm -rf /;'\'''");
        for odd in ["", "$(reboot)", "a\nb", "*", "ä", "sim:tiny-flash?fill=0.5", "a&b"] {
            assert!(shell_quote(odd).starts_with('\'') && shell_quote(odd).ends_with('\''), "{odd}");
        }
    }
}
