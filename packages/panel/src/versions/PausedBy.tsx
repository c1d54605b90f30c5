import { useQuery } from "@tanstack/react-query"
import { ShortTime } from "../ui/values/Time.tsx"
import { Author, type VersionSource, versionsOptions } from "./Versions.tsx"

/** When a paused record was paused, and by whom. Shows nothing if no kept version says so. */
export const PausedBy = (source: VersionSource) => {
  const { data } = useQuery(versionsOptions(source))
  const pause = data?.data.find(({ changes }) =>
    changes.some(({ field, new: value }) => field === "paused" && value === true)
  )
  return (
    pause !== undefined && (
      <>
        <ShortTime at={pause.updated_at} /> by <Author actor={pause.updated_by} />
      </>
    )
  )
}
