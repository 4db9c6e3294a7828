# Installs winjoin @VERSION@: downloads the zip, compares its SHA-256, and puts winjoin on PATH.
# Windows PowerShell 5.1, as an administrator; the first line takes the newest release, the second this one:
#   irm @LATEST_URL@ | iex
#   powershell -ExecutionPolicy Bypass -File install.ps1
param(
    [string]$Url = "@ZIP_URL@",
    [string]$Folder = "$env:ProgramFiles\winjoin"
)
$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"
$expected = "@ZIP_SHA256@"

$identity = [Security.Principal.WindowsIdentity]::GetCurrent()
$role = [Security.Principal.WindowsBuiltInRole]::Administrator
if (-not (New-Object Security.Principal.WindowsPrincipal $identity).IsInRole($role)) {
    throw "Run this as an administrator."
}
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
# Not in a TEMP folder: SYSTEM's is C:\Windows\Temp, where users may add files to what is unpacked.
$work = Join-Path $env:ProgramFiles ("winjoin-" + [Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    $zip = Join-Path $work "winjoin.zip"
    Invoke-WebRequest -Uri $Url -OutFile $zip -UseBasicParsing
    $found = (Get-FileHash -Algorithm SHA256 -Path $zip).Hash.ToLower()
    if ($found -ne $expected) {
        throw "The SHA-256 of $Url is $found, not $expected. Nothing was installed."
    }
    Expand-Archive -Path $zip -DestinationPath $work
    New-Item -ItemType Directory -Force -Path $Folder | Out-Null
    Copy-Item -Path (Join-Path $work "winjoin\*") -Destination $Folder -Force
    $path = [Environment]::GetEnvironmentVariable("Path", "Machine")
    if (($path -split ";") -notcontains $Folder) {
        [Environment]::SetEnvironmentVariable("Path", "$path;$Folder", "Machine")
        $env:Path = "$env:Path;$Folder"
    }
    & (Join-Path $Folder "winjoin.exe") version
}
finally {
    Remove-Item -Recurse -Force -Path $work
}
