import { ApiPromise } from "../ApiPromise.ts"
import type { ResponseWithData } from "../transport/Http.ts"
import { checkWholeNumber } from "../options.ts"

export interface IterationLimit {
  /** The maximum number of records, 1 or more. */
  readonly limit: number
}

/** One page of a list, newest first. Iteration continues with the following pages. */
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

  /** Returns the next page, or undefined on the last page. */
  async nextPage(): Promise<Page<A> | undefined> {
    return this.next_cursor === null ? undefined : this.#after(this.next_cursor)
  }

  /** Returns the records from this page on, across as many pages as needed, but at most `limit`. */
  toArray(options: IterationLimit): Promise<Array<A>> {
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
 * A promise of the first page that can also iterate over all pages' records. `More` has the page's
 * fields besides its records.
 */
export class PagePromise<A, More = unknown>
  extends ApiPromise<Page<A> & More>
  implements AsyncIterable<A>
{
  constructor(fetchPage: (cursor: string | undefined) => Promise<ResponseWithData>) {
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
   * Returns the records of all pages, but at most `limit`, because a list might not fit into
   * memory.
   *
   * @example const newest = await client.executions.list().toArray({ limit: 500 })
   */
  toArray(options: IterationLimit): Promise<Array<A>> {
    return collect(this, options)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    yield* await this
  }
}

/**
 * Collects the records of all pages, at most `limit`. `options` may be undefined, because
 * JavaScript programs may omit it.
 */
const collect = async <A>(
  records: AsyncIterable<A>,
  options: IterationLimit | undefined
): Promise<Array<A>> => {
  const limit = checkWholeNumber("limit", options?.limit ?? Number.NaN, 1, 2 ** 32 - 1)
  const collected: Array<A> = []
  for await (const record of records) {
    collected.push(record)
    if (collected.length === limit) break
  }
  return collected
}
