/** Why nothing can listen at an address, for a log line. */
export const whyNotListening = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause && cause.code === "EADDRINUSE"
    ? "another process listens there"
    : cause.message
}
