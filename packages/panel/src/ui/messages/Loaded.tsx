import type { ReactNode } from "react"
import { Page, Skeleton } from "../layout/Page.tsx"
import { isGone, Problem } from "./Problem.tsx"

interface Query<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/**
 * Shows a query's data, a placeholder while it loads, or its error. Data that could not be
 * refetched remains below the error.
 */
export const Loaded = <Data,>({
  children,
  height,
  query: { data, error, refetch }
}: {
  readonly query: Query<Data>
  /** The class for the placeholder's height, such as `h-40`. */
  readonly height: string
  readonly children: (data: Data) => ReactNode
}) =>
  data !== undefined && !isGone(error) ? (
    <>
      {error !== null && (
        <div className="mb-3">
          <Problem error={error} retry={refetch} />
        </div>
      )}
      {children(data)}
    </>
  ) : error !== null ? (
    <Problem error={error} retry={refetch} />
  ) : (
    <Skeleton className={height} />
  )

/** A record's page. While the record loads, the page shows its layout with a placeholder. */
export const LoadedPage = <Data,>({
  above,
  children,
  name,
  query,
  width = "wide"
}: {
  readonly query: Query<Data>
  /** The browser tab's title while the record loads. */
  readonly name: string
  readonly above?: ReactNode
  readonly width?: "wide" | "narrow"
  readonly children: (data: Data) => ReactNode
}) =>
  query.data !== undefined && !isGone(query.error) ? (
    <>
      {query.error !== null && (
        <div className="mx-auto max-w-[76rem] px-4 pt-4 sm:px-8">
          <Problem error={query.error} retry={query.refetch} />
        </div>
      )}
      {children(query.data)}
    </>
  ) : (
    <Page
      title={query.error === null ? <Skeleton className="h-7 w-64" /> : name}
      name={name}
      above={above}
      width={width}
    >
      <Loaded query={query} height="h-96">
        {() => null}
      </Loaded>
    </Page>
  )
