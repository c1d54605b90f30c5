import { Deprecated } from "@scheduling/domain/shared/Deprecated"
import { Context, Option } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

/**
 * Returns the headers of RFC 9745 and RFC 8594 that announce the end of an endpoint. Undefined for
 * an endpoint that is not deprecated.
 */
export const deprecationHeaders = ({
  annotations
}: Pick<HttpApiEndpoint.Top, "annotations">): Readonly<Record<string, string>> | undefined => {
  const deprecation = Option.getOrUndefined(Context.getOption(annotations, Deprecated))
  if (deprecation === undefined) return undefined
  const { since, sunset } = deprecation
  return {
    deprecation: `@${startOf(since).getTime() / 1000}`,
    link: '</docs>; rel="deprecation"; type="text/html"',
    ...(sunset !== undefined && { sunset: startOf(sunset).toUTCString() })
  }
}

const startOf = (day: string): Date => new Date(`${day}T00:00:00Z`)
