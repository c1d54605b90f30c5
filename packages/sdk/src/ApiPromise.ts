import type { ResponseWithData } from "./transport/Http.ts"

/** A response's data, together with the response itself, whose body has already been read. */
export interface WithResponse<A> {
  readonly data: A
  readonly response: Response
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined
}

/** A promise of the response data that also gives access to the whole response. */
export class ApiPromise<A> extends Promise<A> {
  /** `then`, `catch` and `finally` return plain promises, which have no response. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  readonly #result: Promise<WithResponse<A>>

  constructor(answer: Promise<ResponseWithData>, read: (data: unknown) => A) {
    // The state of this promise is never used. Rejecting it would cause an unhandled rejection if
    // only `withResponse` is awaited. `await`, `catch`, `finally` and `Promise.all` all use `then`.
    super(() => {})
    this.#result = answer.then(({ data, response }) => ({
      data: read(data),
      response,
      requestId: response.headers.get("x-request-id") ?? undefined
    }))
  }

  withResponse(): Promise<WithResponse<A>> {
    return this.#result
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise, with one method more
  override then<B = A, C = never>(
    onFulfilled?: ((data: A) => B | PromiseLike<B>) | null,
    // `any`, as in the built-in promise's type, so that a handler can declare an error type.
    // oxlint-disable-next-line typescript/no-explicit-any -- see above
    onRejected?: ((reason: any) => C | PromiseLike<C>) | null
  ): Promise<B | C> {
    return this.#result.then(({ data }) => data).then(onFulfilled, onRejected)
  }
}
