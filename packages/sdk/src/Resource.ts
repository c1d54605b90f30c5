import { ApiPromise } from "./ApiPromise.ts"
import type { Call, Caller } from "./transport/Caller.ts"
import { followEvents, type StreamCall, streamHeaders } from "./reading/events.ts"
import { PagePromise } from "./reading/pagination.ts"

/** The base class of the generated classes. */
export class Resource {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /**
   * Trusts the contract's types without validating, because the service validates its own
   * responses.
   */
  protected call<A>(call: Call): ApiPromise<A> {
    return new ApiPromise(this.#caller.send(call), (data) => data as A)
  }

  protected following<A>(call: Omit<Call, "options"> & StreamCall): AsyncIterable<A> {
    const { lastEventId, ...options } = call.options ?? {}
    const open = (id: string | undefined) =>
      this.#caller.send({
        ...call,
        isStream: true,
        options: { ...options, headers: { ...options.headers, ...streamHeaders(id) } }
      })
    const first = lastEventId instanceof Date ? lastEventId.toISOString() : lastEventId
    return { [Symbol.asyncIterator]: () => followEvents<A>(open, first, options.signal) }
  }

  protected pages<A, More = unknown>(call: Call): PagePromise<A, More> {
    return new PagePromise((cursor) =>
      this.#caller.send(cursor === undefined ? call : { ...call, query: { ...call.query, cursor } })
    )
  }
}
