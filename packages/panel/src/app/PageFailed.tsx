import { ConnectionError } from "@scheduling/sdk"
import { useRouter } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { Page } from "../ui/layout/Page.tsx"
import { Loading } from "./Loading.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { OtherVersionError } from "./lazyPage.ts"

/** Instead of a page that could not be shown. */
export const PageFailed = ({ error }: { readonly error: unknown }) => {
  const router = useRouter()
  const isReloading = useReload(error instanceof OtherVersionError)
  useHealing(error)
  return isReloading ? (
    <Loading />
  ) : (
    <Page title="Something went wrong" width="narrow">
      {/* It asks for the code and the data of the page again. */}
      <Problem error={error} retry={() => void router.invalidate()} />
    </Page>
  )
}

/** How long until a page that could not be reached is tried again. */
const againMs = 3_000

/** Tries again, while somebody looks, until the service can be reached. */
const useHealing = (error: unknown): void => {
  const router = useRouter()
  useEffect(() => {
    if (!(error instanceof ConnectionError)) return
    const timer = window.setInterval(() => {
      if (!document.hidden) void router.invalidate()
    }, againMs)
    return () => window.clearInterval(timer)
  }, [router, error])
}

/** Which script was reloaded for last. */
const key = "reloaded"

/** Reloads once for each version, as a page that is stored somewhere may stay an old one. */
const useReload = (isWanted: boolean): boolean => {
  const [isReloading] = useState(() => isWanted && sessionStorage.getItem(key) !== import.meta.url)
  useEffect(() => {
    if (!isReloading) return
    sessionStorage.setItem(key, import.meta.url)
    location.reload()
  }, [isReloading])
  return isReloading
}
