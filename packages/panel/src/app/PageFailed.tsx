import { ConnectionError } from "@scheduling/sdk"
import { useRouter } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { Page } from "../ui/layout/Page.tsx"
import { Loading } from "./Loading.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { OtherVersionError } from "./lazyPage.ts"

export const PageFailed = ({ error }: { readonly error: unknown }) => {
  const router = useRouter()
  const isReloading = useReload(error instanceof OtherVersionError)
  useRetry(error)
  return isReloading ? (
    <Loading />
  ) : (
    <Page title="Something went wrong" width="narrow">
      <Problem error={error} retry={() => router.invalidate()} />
    </Page>
  )
}

const retryMs = 3_000

/** Retries until the service can be reached, while the tab is visible. */
const useRetry = (error: unknown): void => {
  const router = useRouter()
  useEffect(() => {
    if (!(error instanceof ConnectionError)) return
    const timer = window.setInterval(() => {
      if (!document.hidden) void router.invalidate()
    }, retryMs)
    return () => window.clearInterval(timer)
  }, [router, error])
}

/** The session storage key for the script that caused the last reload. */
const key = "reloaded"

/** Reloads at most once per version, because a cache may keep serving the old page. */
const useReload = (isWanted: boolean): boolean => {
  const [isReloading] = useState(() => isWanted && sessionStorage.getItem(key) !== import.meta.url)
  useEffect(() => {
    if (!isReloading) return
    sessionStorage.setItem(key, import.meta.url)
    location.reload()
  }, [isReloading])
  return isReloading
}
