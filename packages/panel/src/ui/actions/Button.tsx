import { createLink } from "@tanstack/react-router"
import { type ComponentProps, type MouseEvent, type ReactNode, useState } from "react"
import { classes } from "../classes.ts"
import { Spinner } from "../messages/Spinner.tsx"

interface Look {
  /** `main` is for a page's primary action. */
  readonly look?: "main" | "plain" | "quiet" | "danger"
  readonly size?: "small" | "normal"
  readonly icon?: ReactNode
}

const looks = {
  main: "bg-ink text-canvas border-ink hover:opacity-85 shadow-card",
  plain: "bg-surface border-line hover:border-edge hover:bg-sunken shadow-card",
  quiet: "border-transparent text-soft hover:text-ink hover:bg-sunken",
  danger: "bg-surface border-line text-bad hover:border-bad hover:tint-bad shadow-card"
}

const sizes = {
  small: "h-7 px-2.5 text-sm gap-1.5 rounded-md pointer-coarse:h-10 [&_svg]:size-3.5",
  normal: "h-9 px-3.5 text-base gap-2 rounded-lg pointer-coarse:h-10 [&_svg]:size-4"
}

/**
 * Returns the classes for a button's look, for links and other elements that should look like one.
 */
export const buttonClasses = (
  { look = "plain", size = "normal" }: Look,
  className: string | undefined
) =>
  classes(
    "relative inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap select-none",
    "transition-[background,border-color,color,opacity] duration-100",
    "disabled:cursor-not-allowed disabled:opacity-50 aria-busy:cursor-progress",
    looks[look],
    sizes[size],
    className
  )

/** The delay before a spinner is shown. Showing it earlier would only cause flicker. */
const spinnerAfterMs = 100

/** Runs one click handler at a time, and reports if it takes long. */
const useWork = (work: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined) => {
  const [state, setState] = useState<"idle" | "begun" | "working">("idle")
  const onClick = async (event: MouseEvent<HTMLButtonElement>) => {
    const outcome = work?.(event)
    if (!(outcome instanceof Promise)) return
    setState("begun")
    const timer = setTimeout(() => setState("working"), spinnerAfterMs)
    try {
      await outcome
    } finally {
      clearTimeout(timer)
      setState("idle")
    }
  }
  return { onClick, isBegun: state !== "idle", isWorking: state === "working" }
}

/** A button that ignores clicks while it is busy but keeps the focus. */
export const Button = ({
  busy = false,
  children,
  className,
  disabled,
  icon,
  look,
  onClick,
  size,
  type = "button",
  ...rest
}: Look & {
  readonly busy?: boolean
  /** If the handler returns a promise, the button is busy until the promise settles. */
  readonly onClick?: (event: MouseEvent<HTMLButtonElement>) => unknown
} & Omit<ComponentProps<"button">, "onClick">) => {
  const work = useWork(onClick)
  const isBusy = busy || work.isBegun
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy}
      onClick={(event) => {
        if (!isBusy) return work.onClick(event)
        event.preventDefault()
      }}
      className={buttonClasses({ ...(look && { look }), ...(size && { size }) }, className)}
    >
      {busy || work.isWorking ? <Spinner /> : icon}
      {children}
    </button>
  )
}

export const ButtonLink = createLink(
  ({ children, className, icon, look, size, ...rest }: Look & ComponentProps<"a">) => (
    <a
      {...rest}
      className={buttonClasses({ ...(look && { look }), ...(size && { size }) }, className)}
    >
      {icon}
      {children}
    </a>
  )
)

export const IconButton = ({
  className,
  label,
  ...rest
}: { readonly label: string } & ComponentProps<"button">) => (
  <button
    type="button"
    title={label}
    aria-label={label}
    {...rest}
    className={classes(
      "inline-grid size-8 shrink-0 place-items-center rounded-md text-faint pointer-coarse:size-10 transition-colors duration-100 hover:bg-sunken hover:text-ink disabled:opacity-40",
      className
    )}
  />
)
