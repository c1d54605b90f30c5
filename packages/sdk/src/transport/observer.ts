/**
 * An attempt that is about to start. Never contains a credential, because it has no headers and no
 * body.
 */
export interface RequestEvent {
  readonly method: string
  readonly url: string
  /** 1 for the first attempt, 2 for the first retry, and so on. */
  readonly attempt: number
}

/** The result of an attempt. */
export interface ResponseEvent extends RequestEvent {
  /** Undefined if there was no response. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly durationMs: number
  /** The error that the call throws, or would throw without a retry. */
  readonly error: Error | undefined
  /** The delay until the next attempt. Undefined if there is none. */
  readonly retryInMs: number | undefined
}

/** A logger, such as `console`. */
export interface Logger {
  readonly debug: (message: string) => void
  readonly warn: (message: string) => void
}

/**
 * Observes requests. Errors that an observer throws are ignored, so that a failing log cannot fail
 * a call.
 */
export interface Observer {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Called after each attempt, regardless of its result. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /**
   * Receives one line per attempt: `warn` if the attempt will be retried, otherwise `debug`.
   * Defaults to `console` if `SCHEDULING_LOG` is `debug`.
   */
  readonly logger?: Logger | undefined
}

export const notifyRequest = ({ onRequest }: Observer, event: RequestEvent): void =>
  ignoreErrors(() => onRequest?.(event))

export const notifyResponse = ({ logger, onResponse }: Observer, event: ResponseEvent): void => {
  ignoreErrors(() => onResponse?.(event))
  ignoreErrors(() => logger?.[event.retryInMs === undefined ? "debug" : "warn"](formatEvent(event)))
}

const formatEvent = ({
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
    retryInMs !== undefined && `retry in ${Math.round(retryInMs)} ms`
  ]
    .filter((part) => part !== false)
    .join(", ")

const ignoreErrors = (notify: () => void): void => {
  try {
    notify()
  } catch {
    // Errors of observers are ignored: see `Observer`.
  }
}
