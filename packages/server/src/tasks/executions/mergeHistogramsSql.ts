/**
 * The number of buckets from which a histogram is summed up. In a smaller histogram, the next
 * piece's buckets are only appended, so a bucket can occur twice.
 */
const addUpFrom = 200

/**
 * SQL that merges two histograms. A histogram with few buckets is only concatenated, because
 * summing it up costs four times as much as all other work for a task.
 */
export const mergeHistogramsSql = (buckets: string, counts: string) => `
  SELECT stats.${buckets} || EXCLUDED.${buckets}, stats.${counts} || EXCLUDED.${counts}
  WHERE cardinality(stats.${buckets}) < ${addUpFrom}
  UNION ALL
  SELECT array_agg(bucket), array_agg(n)
  FROM (
    SELECT bucket, sum(n)::integer AS n
    FROM unnest(
      stats.${buckets} || EXCLUDED.${buckets},
      stats.${counts} || EXCLUDED.${counts}
    ) AS part (bucket, n)
    GROUP BY bucket
  ) AS whole
  HAVING cardinality(stats.${buckets}) >= ${addUpFrom}`
