let kept = ""

/**
 * The token of a link. It is after the `#`, which browsers send to no server. It is taken out of the
 * address at once, so that it stays in no history, and kept while its reader signs in.
 */
export const takeLinkToken = (): string => {
  if (location.hash.length > 1) {
    kept = location.hash.slice(1)
    history.replaceState(history.state, "", location.pathname + location.search)
  }
  return kept
}
