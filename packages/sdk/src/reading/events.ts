import { raceWithAbort, sleep } from "../transport/clock.ts"
import { ApiError, ConnectionError, SchedulingError, TimeoutError } from "../errors.ts"
import { EventParser } from "./EventParser.ts"
import type { ResponseWithData } from "../transport/Http.ts"
import type { InWorkspace, RequestOptions } from "../options.ts"

export interface StreamOptions extends Omit<RequestOptions, "timeoutMs"> {
  /**
   * The `id` of the last event that was received, or a time by the service's clock, up to five
   * minutes ago. The stream continues after it.
   */
  readonly lastEventId?: string | Date | undefined
}

export interface StreamCall {
  readonly options?: (StreamOptions & InWorkspace) | undefined
}

export const streamHeaders = (lastEventId: string | undefined) => ({
  accept: "text/event-stream",
  ...(lastEventId !== undefined && { "last-event-id": lastEventId })
})

/**
 * The time without data after which a connection counts as dead. The service sends at least a
 * comment every 15 seconds.
 */
const silenceMs = 45_000

const firstPauseMs = 500
const longestPauseMs = 30_000

/**
 * Yields events until it is stopped. A broken stream is reopened, and continues after the last
 * event. Fails if the first stream cannot be opened, and later only if the service rejects a
 * stream.
 */
export async function* followEvents<A>(
  open: (lastEventId: string | undefined) => Promise<ResponseWithData>,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined
): AsyncGenerator<A, void, undefined> {
  const parser = new EventParser(lastEventId)
  let failures = 0
  let wasOpened = false
  for (;;) {
    let answer: ResponseWithData
    try {
      answer = await open(parser.lastEventId)
    } catch (error) {
      if (!wasOpened || !isTransient(error)) throw error
      await sleep(pauseMs(++failures), signal)
      continue
    }
    wasOpened = true
    for await (const data of messages(answer.response, parser, signal)) {
      failures = 0
      yield JSON.parse(data) as A
    }
    signal?.throwIfAborted()
    await sleep(pauseMs(++failures), signal)
  }
}

/** Yields the data of each message until the stream ends, breaks or times out. */
async function* messages(
  { body }: Response,
  parser: EventParser,
  signal: AbortSignal | undefined
): AsyncGenerator<string, void, undefined> {
  if (body === null) throw new SchedulingError("The response has no body to read events from")
  const reader = body.getReader()
  parser.begin()
  try {
    for (;;) {
      const chunk = await raceWithAbort(readOrTimeout(reader.read()), signal)
      if (chunk === undefined || chunk.done) return
      yield* parser.read(chunk.value)
    }
  } catch (error) {
    if (signal?.aborted === true || error instanceof SchedulingError) throw error
  } finally {
    // Also runs when the consumer stops iterating. The rest of the stream must not keep the
    // connection open.
    reader.cancel().catch(() => undefined)
  }
}

/** Returns undefined if no data arrives for too long, because the connection may be dead. */
const readOrTimeout = <A>(read: Promise<A>): Promise<A | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), silenceMs)
  })
  return Promise.race([read, silence]).finally(() => clearTimeout(timer))
}

const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (error instanceof ApiError &&
    (error.status >= 500 || error.status === 408 || error.status === 429))

const pauseMs = (failures: number): number =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)
