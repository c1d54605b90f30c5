import { ApiPromise } from "./ApiPromise.ts"
import type { Call, Caller } from "./Caller.ts"
import { PagePromise } from "./pagination.ts"

/** What the generated methods are made of. */
export class Resource {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** The types of the contract are trusted here: the service checks what it sends, once. */
  protected call<A>(call: Call): ApiPromise<A> {
    return new ApiPromise(this.#caller.send(call), (data) => data as A)
  }

  protected pages<A>(call: Call): PagePromise<A> {
    return new PagePromise((cursor) =>
      this.#caller.send(cursor === undefined ? call : { ...call, query: { ...call.query, cursor } })
    )
  }
}
