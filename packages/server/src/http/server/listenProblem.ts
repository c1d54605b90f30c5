/** Explains for the log why the service cannot listen on an address. */
export const listenProblem = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause && cause.code === "EADDRINUSE"
    ? "the port is already in use by another process"
    : cause.message
}
