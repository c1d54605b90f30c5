let kept = ""

/**
 * Returns a link's token. The token is in the URL fragment, which browsers do not send to the
 * server. It is removed from the URL and the browser history, and kept while the user signs in.
 */
export const takeLinkToken = (): string => {
  if (location.hash.length > 1) {
    kept = location.hash.slice(1)
    history.replaceState(history.state, "", location.pathname + location.search)
  }
  return kept
}
