import { useRouter } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { Page } from "../ui/layout/Page.tsx"
import { Loading } from "./Loading.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { NewVersionError } from "./lazyPage.ts"

export const PageFailed = ({ error }: { readonly error: unknown }) => {
  const router = useRouter()
  const isReloading = useReload(error instanceof NewVersionError)
  return isReloading ? (
    <Loading />
  ) : (
    <Page title="Something went wrong" width="narrow">
      <Problem error={error} retry={() => router.invalidate()} />
    </Page>
  )
}

/** The session storage key for the URL of the script that triggered the last reload. */
const key = "reloaded"

/** Reloads the page at most once per version, because a cache could keep serving the old page. */
const useReload = (isWanted: boolean): boolean => {
  const [isReloading] = useState(() => isWanted && sessionStorage.getItem(key) !== import.meta.url)
  useEffect(() => {
    if (!isReloading) return
    sessionStorage.setItem(key, import.meta.url)
    location.reload()
  }, [isReloading])
  return isReloading
}
