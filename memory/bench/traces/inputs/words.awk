# Counts the words of the files, and lists the lines of each.
{
	for (i = 1; i <= NF; i++) {
		word = tolower($i)
		gsub(/[^a-z]/, "", word)
		count[word]++
		lines[word] = lines[word] " " FNR
	}
}

END {
	n = asorti(count, words)
	for (i = 1; i <= n; i++) print words[i], count[words[i]], lines[words[i]]
}
