/** An attempt that is about to be made. It never holds a credential: no headers, no bodies. */
export interface RequestEvent {
  readonly method: string
  readonly url: string
  /** 1, and one more for each time that the request is made again. */
  readonly attempt: number
}

/** What came of an attempt. */
export interface ResponseEvent extends RequestEvent {
  /** Undefined where there was no answer. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly durationMs: number
  /** What the call throws, or would throw if it were not tried again. */
  readonly error: Error | undefined
  /** How long until the next attempt; undefined where there is none. */
  readonly retryInMs: number | undefined
}

/** `console` is one. */
export interface Logger {
  readonly debug: (message: string) => void
  readonly warn: (message: string) => void
}

/** Those who watch. What they throw is ignored: a log that fails must not fail a call. */
export interface Observer {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Called after each attempt, whatever came of it. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Gets a line for each attempt: `warn` where it will be made again, else `debug`. */
  readonly logger?: Logger | undefined
}

export const tellRequest = ({ onRequest }: Observer, event: RequestEvent): void =>
  quietly(() => onRequest?.(event))

export const tellResponse = ({ logger, onResponse }: Observer, event: ResponseEvent): void => {
  quietly(() => onResponse?.(event))
  quietly(() => logger?.[event.retryInMs === undefined ? "debug" : "warn"](line(event)))
}

const line = ({
  attempt,
  durationMs,
  error,
  method,
  requestId,
  retryInMs,
  status,
  url
}: ResponseEvent) =>
  [
    `${method} ${url}: ${status ?? error?.message} after ${durationMs} ms`,
    requestId !== undefined && `request ${requestId}`,
    attempt > 1 && `attempt ${attempt}`,
    retryInMs !== undefined && `again in ${Math.round(retryInMs)} ms`
  ]
    .filter((part) => part !== false)
    .join(", ")

const quietly = (tell: () => void): void => {
  try {
    tell()
  } catch {
    // See Observer.
  }
}
