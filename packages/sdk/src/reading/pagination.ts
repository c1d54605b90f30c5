import { ApiPromise } from "../ApiPromise.ts"
import type { Answer } from "../transport/Http.ts"
import { whole } from "../options.ts"

export interface AtMost {
  /** The highest number of records, 1 or more. */
  readonly limit: number
}

/** One page of a list, newest first. Iterating continues with the pages after it. */
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

  /** The next page. Undefined on the last page. */
  async nextPage(): Promise<Page<A> | undefined> {
    return this.next_cursor === null ? undefined : this.#after(this.next_cursor)
  }

  /** The records from here on, over as many pages as needed, but no more than `limit`. */
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

/**
 * A promise of the first page that can also iterate over the records of all pages. `More` is what the
 * page says beside its records.
 */
export class PagePromise<A, More = unknown>
  extends ApiPromise<Page<A> & More>
  implements AsyncIterable<A>
{
  constructor(fetchPage: (cursor: string | undefined) => Promise<Answer>) {
    const toPage = (answer: unknown): Page<A> & More => {
      const { data, next_cursor, ...more } = answer as Pick<Page<A>, "data" | "next_cursor"> & More
      const page = new Page<A>({ data, next_cursor }, async (cursor) =>
        toPage((await fetchPage(cursor)).data)
      )
      return Object.assign(page, more) as unknown as Page<A> & More
    }
    super(fetchPage(undefined), toPage)
  }

  /**
   * The records of all pages, but no more than `limit`, because a list may exceed the memory.
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

/** Programs in JavaScript may leave the options out. */
const collect = async <A>(
  records: AsyncIterable<A>,
  options: AtMost | undefined
): Promise<Array<A>> => {
  const limit = whole("limit", options?.limit ?? Number.NaN, 1, 2 ** 32 - 1)
  const collected: Array<A> = []
  for await (const record of records) {
    collected.push(record)
    if (collected.length === limit) break
  }
  return collected
}
