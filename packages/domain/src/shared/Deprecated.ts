import { Context } from "effect"

/** When and why an endpoint is deprecated. Dates are days in UTC. */
export interface Deprecation {
  /** The day of the release that deprecates the endpoint, such as `2027-01-01`. */
  readonly since: string
  /** The first day on which the endpoint may no longer exist, if known. */
  readonly sunset?: string
  /** A sentence that says what to use instead. */
  readonly instead: string
}

/**
 * Marks an endpoint that will be removed. The OpenAPI document marks it as `deprecated`, the SDK as
 * `@deprecated`, and its responses have the headers `Deprecation`, `Link` and, if the sunset is
 * known, `Sunset`.
 */
export class Deprecated extends Context.Service<Deprecated, Deprecation>()(
  "@scheduling/domain/shared/Deprecated"
) {
  /** Checks the promise of docs/api-changes.md: a sunset is at least twelve months ahead. */
  static readonly since = (
    since: string,
    { instead, sunset }: Omit<Deprecation, "since">
  ): Deprecation => {
    const earliest = new Date(`${since}T00:00:00Z`)
    earliest.setUTCFullYear(earliest.getUTCFullYear() + 1)
    if (sunset !== undefined && !(new Date(`${sunset}T00:00:00Z`) >= earliest)) {
      throw new Error(
        `The sunset ${sunset} must be at least twelve months after the deprecation on ${since}.`
      )
    }
    return { since, instead, ...(sunset !== undefined && { sunset }) }
  }
}
