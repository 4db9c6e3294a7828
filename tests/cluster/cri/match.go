// What the filters of list calls match.
package main

import "strings"

// idMatches tells whether an id begins with what is asked for; all do with nothing.
func idMatches(asked, id string) bool { return strings.HasPrefix(id, asked) }

func labelsMatch(wanted, labels map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}
