import type { Answer } from "./Http.ts"

/** The data of an answer with the answer it came in; its body has been read. */
export interface WithResponse<A> {
  readonly data: A
  readonly response: Response
  /** The logs of the service know the request by it. */
  readonly requestId: string | undefined
}

/** The promise of the data, which also gives the whole answer. */
export class ApiPromise<A> implements Promise<A> {
  readonly [Symbol.toStringTag] = "ApiPromise"
  readonly #result: Promise<WithResponse<A>>

  constructor(answer: Promise<Answer>, read: (data: unknown) => A) {
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
  then<B = A, C = never>(
    onFulfilled?: ((data: A) => B | PromiseLike<B>) | null,
    onRejected?: ((error: unknown) => C | PromiseLike<C>) | null
  ): Promise<B | C> {
    return this.#result.then(({ data }) => data).then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.then(null, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<A> {
    return this.then().finally(onFinally)
  }
}
