interface Headers {
  readonly "if-match"?: string | undefined
}

/**
 * Returns the version in the `If-Match` header of a request. The contract has validated its format.
 */
export const ifMatchVersion = ({ "if-match": tag }: Headers): number | undefined =>
  tag === undefined ? undefined : Number(tag.slice(1, -1))

/**
 * Adds the version that the client has read to the body of a request. The header takes precedence.
 */
export const withExpectedVersion = <Body extends { readonly version?: number }>(
  headers: Headers,
  body: Body
): Body => {
  const version = ifMatchVersion(headers)
  return version === undefined ? body : { ...body, version }
}
