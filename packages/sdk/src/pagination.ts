import { ApiPromise } from "./ApiPromise.ts"
import type { Answer } from "./Http.ts"
import { whole } from "./options.ts"

export interface PageQuery {
  /** How many records a page holds, 1 to 100. 20 when absent. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the page before; absent for the first page. */
  readonly cursor?: string | undefined
}

export interface AtMost {
  /** How many records there may be at most, 1 or more. */
  readonly limit: number
}

/** One page of a list, newest first. Iterating goes on through the pages after it. */
export class Page<A> implements AsyncIterable<A> {
  readonly data: ReadonlyArray<A>
  /** Null on the last page. */
  readonly next_cursor: string | null
  readonly #after: (cursor: string) => Promise<Page<A>>

  constructor(
    { data, next_cursor }: Pick<Page<A>, "data" | "next_cursor">,
    after: (cursor: string) => Promise<Page<A>>
  ) {
    this.data = data
    this.next_cursor = next_cursor
    this.#after = after
  }

  /** The page after this one, undefined on the last. */
  async nextPage(): Promise<Page<A> | undefined> {
    return this.next_cursor === null ? undefined : this.#after(this.next_cursor)
  }

  /** The records from here on, of as many pages as it takes, but no more than `limit`. */
  toArray(options: AtMost): Promise<Array<A>> {
    return collect(this, options)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    yield* this.data
    for (let page = await this.nextPage(); page !== undefined; page = await page.nextPage()) {
      yield* page.data
    }
  }
}

/** The promise of the first page, and the records of all pages one after the other. */
export class PagePromise<A> extends ApiPromise<Page<A>> implements AsyncIterable<A> {
  constructor(fetchPage: (cursor: string | undefined) => Promise<Answer>) {
    const toPage = (data: unknown): Page<A> =>
      new Page(data as Pick<Page<A>, "data" | "next_cursor">, async (cursor) =>
        toPage((await fetchPage(cursor)).data)
      )
    super(fetchPage(undefined), toPage)
  }

  /**
   * The records of all pages, but no more than `limit`: a list may be longer than the memory.
   *
   * @example
   * const newest = await client.executions.list().toArray({ limit: 500 })
   */
  toArray(options: AtMost): Promise<Array<A>> {
    return collect(this, options)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    yield* await this
  }
}

const collect = async <A>(records: AsyncIterable<A>, { limit }: AtMost): Promise<Array<A>> => {
  whole("limit", limit, 1, 2 ** 32 - 1)
  const collected: Array<A> = []
  for await (const record of records) {
    collected.push(record)
    if (collected.length === limit) break
  }
  return collected
}
