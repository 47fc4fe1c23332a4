//! Quotes words of shell commands that users paste, and adds or removes sudo.

/// Quotes a word so that the shell takes it literally. Quotes do not keep a program from reading a word that
/// begins with a dash as an option.
pub fn shell_quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-:@%+=,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Beginnings of system commands that any user may run.
const WITHOUT_ROOT: [&str; 4] = ["likenew ", "cat ", "cryptsetup benchmark", "fwupdmgr get-updates"];

/// The command as an ordinary user types it.
pub fn with_sudo(command: &str) -> String {
    if let Some((first, then)) = command.split_once(" && ") {
        return format!("{} && {}", with_sudo(first), with_sudo(then));
    }
    if WITHOUT_ROOT.iter().any(|start| command.starts_with(start)) || command.starts_with("sudo ") {
        return command.to_owned();
    }
    // The user's shell, not sudo, opens a redirection.
    match command.split_once(" > ").or_else(|| command.split_once(" | tee ")) {
        Some((text, file)) => format!("{text} | sudo tee {file}"),
        None => format!("sudo {command}"),
    }
}

/// The command as root types it.
pub fn without_sudo(command: &str) -> String {
    let command = command.strip_prefix("sudo ").unwrap_or(command);
    command.replace(" | sudo ", " | ").replace(" && sudo ", " && ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_opens_the_file_that_a_command_writes_to() {
        for (command, typed) in [
            ("echo on > /sys/a/control", "echo on | sudo tee /sys/a/control"),
            ("echo unmap | tee /sys/*/mode", "echo unmap | sudo tee /sys/*/mode"),
            ("hdparm -W1 /dev/sda", "sudo hdparm -W1 /dev/sda"),
            ("likenew verify /dev/sda", "likenew verify /dev/sda"),
            ("sudo likenew record /data", "sudo likenew record /data"),
            ("cat /proc/mdstat", "cat /proc/mdstat"),
            (
                "echo a | tee -a /etc/b && udevadm trigger",
                "echo a | sudo tee -a /etc/b && sudo udevadm trigger",
            ),
        ] {
            assert_eq!(with_sudo(command), typed);
        }
    }

    #[test]
    fn root_needs_no_sudo() {
        for (command, typed) in [
            ("sudo smartctl -a /dev/sda", "smartctl -a /dev/sda"),
            (
                "echo a | sudo tee -a /etc/b && sudo udevadm trigger",
                "echo a | tee -a /etc/b && udevadm trigger",
            ),
            ("likenew facts '/mnt/sudo x'", "likenew facts '/mnt/sudo x'"),
        ] {
            assert_eq!(without_sudo(command), typed);
        }
    }

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
