export interface PageQuery {
  /** The number of records per page, 1 to 100. 20 when absent. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the previous page. Absent for the first page. */
  readonly cursor?: string | undefined
}
