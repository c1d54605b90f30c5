let kept = ""

/**
 * Reads the token of a link from the URL fragment, which browsers do not send. The token is removed
 * from the URL and the history, and kept while the user signs in.
 */
export const takeLinkToken = (): string => {
  if (location.hash.length > 1) {
    kept = location.hash.slice(1)
    history.replaceState(history.state, "", location.pathname + location.search)
  }
  return kept
}
