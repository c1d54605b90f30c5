interface Headers {
  readonly "if-match"?: string | undefined
}

/** The version that the `If-Match` of a request names. The contract has checked its form. */
export const versionIn = ({ "if-match": tag }: Headers): number | undefined =>
  tag === undefined ? undefined : Number(tag.slice(1, -1))

/** The body of a request with the version that the client has read. The header counts first. */
export const expecting = <Body extends { readonly version?: number }>(
  headers: Headers,
  body: Body
): Body => {
  const version = versionIn(headers)
  return version === undefined ? body : { ...body, version }
}
