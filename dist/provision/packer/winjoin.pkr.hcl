# An image of Windows Server on which a join takes seconds: winjoin prepare, then sysprep.
#
#   packer init winjoin.pkr.hcl
#   packer build -only 'amazon-ebs.*' -var kubernetes_version=v1.37.1 winjoin.pkr.hcl
#
# Names of fields: packer-plugin-amazon 1.8, -azure 2.6, -googlecompute 1.2. Packer reaches the server by WinRM over
# HTTPS. On EC2 and GCE WinRM stays open in the image, with passwords: let the network's rules close port 5986. On GCE the
# administrator packer stays, too, the same in each clone: net user packer /delete when a clone has started.

packer {
  required_plugins {
    amazon        = { source = "github.com/hashicorp/amazon", version = "~> 1.8" }
    azure         = { source = "github.com/hashicorp/azure", version = "~> 2.6" }
    googlecompute = { source = "github.com/hashicorp/googlecompute", version = "~> 1.2" }
  }
}

variable "kubernetes_version" { type = string } # v1.37.1
variable "installer" {
  type    = string
  default = "winjoin.msi"
}
variable "arguments" {
  type        = string
  default     = "--images mcr.microsoft.com/windows/nanoserver:ltsc2022"
  description = "of winjoin prepare: --network-mode, --network-plugin, --images, --apply-host-fixes, ..."
}
variable "aws_region" {
  type    = string
  default = "eu-central-1"
}
variable "azure_resource_group" {
  type    = string
  default = "images"
}
variable "azure_location" {
  type    = string
  default = "westeurope"
}
variable "google_project" {
  type    = string
  default = ""
}
variable "google_zone" {
  type    = string
  default = "europe-west3-a"
}

locals {
  name    = "winjoin-${replace(trimprefix(var.kubernetes_version, "v"), ".", "-")}-${formatdate("YYYYMMDDhhmm", timestamp())}"
  prepare = "& 'C:\\Program Files\\winjoin\\winjoin.exe' prepare --kubernetes-version ${var.kubernetes_version} --install-features ${var.arguments}"
}

source "amazon-ebs" "windows" {
  region                = var.aws_region
  ami_name              = local.name
  instance_type         = "m6i.large"
  disable_stop_instance = true # sysprep stops it
  source_ami_filter {
    filters = {
      name                = "Windows_Server-2022-English-Core-Base-*"
      root-device-type    = "ebs"
      virtualization-type = "hvm"
    }
    owners      = ["amazon"]
    most_recent = true
  }
  launch_block_device_mappings {
    device_name           = "/dev/sda1"
    volume_size           = 80
    volume_type           = "gp3"
    delete_on_termination = true
  }
  user_data      = <<-EOT
    <powershell>
    $certificate = New-SelfSignedCertificate -CertStoreLocation Cert:\LocalMachine\My -DnsName packer
    New-Item -Path WSMan:\localhost\Listener -Transport HTTPS -Address * -CertificateThumbPrint $certificate.Thumbprint -Force
    Set-Item -Path WSMan:\localhost\Service\Auth\Basic -Value $true
    New-NetFirewallRule -DisplayName packer -Direction Inbound -Protocol TCP -LocalPort 5986
    </powershell>
    EOT
  communicator   = "winrm"
  winrm_username = "Administrator"
  winrm_use_ssl  = true
  winrm_insecure = true
  winrm_timeout  = "15m"
}

source "azure-arm" "windows" {
  use_azure_cli_auth                = true
  location                          = var.azure_location
  vm_size                           = "Standard_D2s_v5"
  os_type                           = "Windows"
  image_publisher                   = "MicrosoftWindowsServer"
  image_offer                       = "WindowsServer"
  image_sku                         = "2022-datacenter-core-g2"
  managed_image_name                = local.name
  managed_image_resource_group_name = var.azure_resource_group
  communicator                      = "winrm"
  winrm_username                    = "packer"
  winrm_use_ssl                     = true
  winrm_insecure                    = true
  winrm_timeout                     = "15m"
}

source "googlecompute" "windows" {
  project_id          = var.google_project
  zone                = var.google_zone
  machine_type        = "n2-standard-4"
  source_image_family = "windows-2022-core"
  image_name          = local.name
  image_family        = "winjoin"
  disk_size           = 80
  metadata = {
    sysprep-specialize-script-cmd = "winrm quickconfig -quiet & net user /add packer & net localgroup administrators packer /add & winrm set winrm/config/service/auth @{Basic=\"true\"}"
  }
  communicator   = "winrm"
  winrm_username = "packer"
  winrm_use_ssl  = true
  winrm_insecure = true
  winrm_timeout  = "15m"
}

build {
  sources = ["source.amazon-ebs.windows", "source.azure-arm.windows", "source.googlecompute.windows"]

  # A folder of administrators: others may write into Windows' own for temporary files.
  provisioner "powershell" {
    inline = ["New-Item -ItemType Directory -Force -Path 'C:\\Program Files\\winjoin-setup' | Out-Null"]
  }
  provisioner "file" {
    source      = var.installer
    destination = "C:/Program Files/winjoin-setup/winjoin.msi"
  }
  provisioner "powershell" {
    inline = [
      "$setup = Start-Process msiexec.exe -Wait -PassThru -ArgumentList '/i', '\"C:\\Program Files\\winjoin-setup\\winjoin.msi\"', '/qn', '/norestart'",
      "Remove-Item -Recurse -Force 'C:\\Program Files\\winjoin-setup'",
      "exit $setup.ExitCode"
    ]
  }

  # 6: Windows must be restarted for the feature Containers; then the same command goes on.
  provisioner "powershell" {
    elevated_user     = "SYSTEM"
    elevated_password = ""
    inline            = [local.prepare, "exit $LASTEXITCODE"]
    valid_exit_codes  = [0, 6]
  }
  provisioner "windows-restart" {
    restart_timeout = "15m"
  }
  provisioner "powershell" {
    elevated_user     = "SYSTEM"
    elevated_password = ""
    inline            = [local.prepare, "exit $LASTEXITCODE"]
  }

  provisioner "powershell" {
    only = ["amazon-ebs.windows"]
    inline = [
      "& 'C:/Program Files/Amazon/EC2Launch/EC2Launch.exe' reset --block",
      "& 'C:/Program Files/Amazon/EC2Launch/EC2Launch.exe' sysprep --shutdown --block"
    ]
  }
  provisioner "powershell" {
    only = ["azure-arm.windows"]
    inline = [
      "foreach ($name in 'RdAgent', 'WindowsAzureGuestAgent') { while ((Get-Service $name).Status -ne 'Running') { Start-Sleep -Seconds 5 } }",
      "& \"$env:SystemRoot\\System32\\Sysprep\\Sysprep.exe\" /oobe /generalize /quiet /quit /mode:vm",
      "do { Start-Sleep -Seconds 10; $state = (Get-ItemProperty HKLM:\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Setup\\State).ImageState } until ($state -eq 'IMAGE_STATE_GENERALIZE_RESEAL_TO_OOBE')"
    ]
  }
  provisioner "powershell" {
    only   = ["googlecompute.windows"]
    inline = ["GCESysprep -NoShutdown"]
  }
}
