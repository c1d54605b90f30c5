import type { Answer } from "./transport/Http.ts"

/** The data of an answer together with the answer itself, whose body has been read. */
export interface WithResponse<A> {
  readonly data: A
  readonly response: Response
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | undefined
}

/** A promise of the data that can also give the whole answer. */
export class ApiPromise<A> extends Promise<A> {
  /** `then`, `catch` and `finally` return plain promises, which have no answer of their own. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  readonly #result: Promise<WithResponse<A>>

  constructor(answer: Promise<Answer>, read: (data: unknown) => A) {
    // The promise's own state is never used. If it were rejected, that would be a second rejection,
    // which nobody handles if only `withResponse` is awaited. `await`, `catch`, `finally` and
    // `Promise.all` all use `then`.
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
    // As the built-in promise types it, so that a handler may say what it expects.
    // oxlint-disable-next-line typescript/no-explicit-any -- see above
    onRejected?: ((reason: any) => C | PromiseLike<C>) | null
  ): Promise<B | C> {
    return this.#result.then(({ data }) => data).then(onFulfilled, onRejected)
  }
}
