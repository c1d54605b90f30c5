import type { Answer } from "./Http.ts"

/** The data of an answer with the answer it came in; its body has been read. */
export interface WithResponse<A> {
  readonly data: A
  readonly response: Response
  /** The logs of the service know the request by it. */
  readonly requestId: string | undefined
}

/** The promise of the data, which also gives the whole answer. */
export class ApiPromise<A> extends Promise<A> {
  /** What `then`, `catch` and `finally` give is a plain promise: it has no answer of its own. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  readonly #result: Promise<WithResponse<A>>

  constructor(answer: Promise<Answer>, read: (data: unknown) => A) {
    // Its own state is never used: it would be a second rejection, which nobody handles where only
    // `withResponse` is awaited. `await`, `catch`, `finally` and `Promise.all` all go by `then`.
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
