import { formatShortDateTime } from "../values/format.ts"

/** The minimum number of columns, so that a chart of a new record is not one wide column. */
const minColumns = 12

/**
 * Leaves out the empty buckets before a record was created. If there were any, also returns a note
 * that says when it was created.
 */
export const bucketsSince = <Bucket extends { readonly start: string }>(
  createdAt: string,
  buckets: ReadonlyArray<Bucket>,
  isEmpty: (bucket: Bucket) => boolean
): { readonly buckets: ReadonlyArray<Bucket>; readonly note: string | undefined } => {
  const first = buckets.findIndex((bucket, index) => {
    const end = buckets[index + 1]?.start
    return !isEmpty(bucket) || end === undefined || Date.parse(end) > Date.parse(createdAt)
  })
  const omitted = Math.max(0, Math.min(first, buckets.length - minColumns))
  return {
    buckets: buckets.slice(omitted),
    note: omitted === 0 ? undefined : `Created on ${formatShortDateTime(createdAt)}`
  }
}
