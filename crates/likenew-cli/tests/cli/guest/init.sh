#!/bin/busybox sh
# The first program of the guest: loads drivers, builds layers on the drives, lets likenew look at them, hands over what it said.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp XDG_DATA_HOME=/tmp/data NO_COLOR=1
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /run /tmp /out /mnt
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t debugfs debug /sys/kernel/debug
chmod 1777 /tmp

fail() {
    echo "guest: $*" | tee -a /out/trouble
}

while read -r module; do
    insmod "/modules/$module" || fail "$module can not be loaded"
done </modules/order

# The name of the disk whose attribute says this; drives are found in any order, and later than their drivers.
disk() {
    tries=0
    while [ $tries -lt 100 ]; do
        for file in /sys/block/*/$1; do
            if [ -e "$file" ] && grep -q "$2" "$file"; then
                echo "$file" | cut -d/ -f4
                return
            fi
        done
        tries=$((tries + 1))
        sleep 0.2
    done
    fail "there is no disk whose $1 says $2"
}

# Runs likenew and keeps what it says and how it ended under a name.
keep() {
    name=$1
    shift
    likenew "$@" --no-archive >"/out/$name" 2>"/out/$name.errors"
    echo $? >"/out/$name.status"
}

fast=$(disk device/model 'LN FAST')
spinning=$(disk device/model 'LN SPINNING')
stick=$(disk device/model 'QEMU HARDDISK')
bridge=$(disk device/model 'LN BRIDGE')
virtual=$(disk serial LN-VIRTIO-BLK)
volume=$(disk device/model 'LN VOLUME')
sas=$(disk device/model 'LN SAS')
card=$(disk device/type SD)
first=$(disk device/serial LN-NVME-TWO)
second=${first%n1}n2
worn=$(disk device/serial LN-NVME-WORN)
for name in first second worn fast spinning stick bridge virtual volume sas card; do
    eval "echo $name \$$name" >>/out/disks
done

# make NAME DEVICE OPTIONS: an ext4, mounted with these options.
make() {
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$2" || fail "no ext4 on $2"
    mkdir -p "/mnt/$1"
    mount -t ext4 -o "$3" "$2" "/mnt/$1" || fail "$2 can not be mounted"
}

map() {
    echo "$3" | dmsetup create "$1" --uuid "$2" || fail "no mapping $1"
    dmsetup mknodes
}

make discards "/dev/$first" noatime,discard
make plain "/dev/${fast}1" noatime
make spinning "/dev/${spinning}1" noatime
make stick "/dev/$stick" noatime,sync

dd if=/dev/zero of=/mnt/plain/image bs=1M count=16 2>/dev/null
loop=$(losetup -f)
losetup "$loop" /mnt/plain/image || fail "no loop device"
make loop "$loop" discard

sectors=$(cat "/sys/block/$volume/size")
map vg-data LVM-LikenewVolumeGroupLikenewLogicalVolume "0 $sectors linear /dev/$volume 0"
# A cipher for which no processor has instructions.
key=$(printf '%064d' 0 | tr 0 a)
map locked CRYPT-PLAIN-locked "0 $sectors crypt serpent-xts-plain64 $key 0 /dev/mapper/vg-data 0 1 no_read_workqueue"
make locked /dev/mapper/locked discard

dd if="/dev/$sas" of=/dev/null bs=4k count=1 skip=256 iflag=direct 2>/dev/null && fail "the bad sector of $sas could be read"

# The timer of Debian's own, enabled, and a table in which one of the file systems stands.
mkdir -p /etc/systemd/system/timers.target.wants
ln -s /lib/systemd/system/fstrim.timer /etc/systemd/system/timers.target.wants/fstrim.timer
echo "/dev/${fast}1 /mnt/plain ext4 noatime 0 2" >/etc/fstab

sync
keep all facts --all --json -
keep sheet facts --all --details
for point in discards plain spinning stick loop locked; do
    keep "$point" facts "/mnt/$point" --json -
done
su -s /bin/sh nobody -c 'likenew facts --all --json - --no-archive' >/out/nobody 2>/out/nobody.errors
echo $? >/out/nobody.status
su -s /bin/sh nobody -c 'likenew facts /mnt/locked --json - --no-archive' >/out/nobody-locked 2>/out/nobody-locked.errors
echo $? >/out/nobody-locked.status

keep checks check "/dev/$worn" "/dev/$sas" --json -
su -s /bin/sh nobody -c 'likenew check --all --json - --no-archive' >/out/checks-nobody 2>/out/checks-nobody.errors
echo $? >/out/checks-nobody.status

keep encrypted check /dev/mapper/locked --bytes 0 --advertised read=2GB/s --json -

keep unasked sweep "/dev/$second" --op write --span 4MiB --passes 1 --json -
keep sweep sweep "/dev/$second" --consent LN-NVME-TWO-ns2 --op read,write --pattern sequential,random --block 4k,64k --depth 1,8 \
    --span 8MiB --time 100ms --bytes 4MiB --passes 1 --json -
keep after facts "/dev/$second" --json -

# step NAME WHAT DEVICE ID DESTROY: one of the powerful steps, by the library that likenew is made of.
step() {
    LIKENEW_STEP="$2" LIKENEW_DEVICE="$3" LIKENEW_ID="$4" LIKENEW_DESTROY="$5" steps --exact guest_steps::a_step --nocapture \
        >"/out/step-$1" 2>"/out/step-$1.errors" || fail "step $1"
}

# In use, by everything that a kernel can build on a drive.
step mounted discard "/dev/$first" LN-NVME-TWO ext
step mounted-other discard "/dev/$second" LN-NVME-TWO gpt
step partition-mounted discard "/dev/$fast" LN-SATA-FAST dos,ext
step mounted-partition discard "/dev/${fast}1" LN-SATA-FAST-part1 ext
step volume-group discard "/dev/$volume" LN-VOLUME LVM2_member
step encrypted discard /dev/mapper/vg-data LVM-LikenewVolumeGroupLikenewLogicalVolume crypto_LUKS
step mapping-mounted discard /dev/mapper/locked CRYPT-PLAIN-locked ext
step controller discard "/dev/${first%n1}" LN-NVME-TWO
step format-mounted format "/dev/$first" LN-NVME-TWO ext
step format-sata format "/dev/$virtual" LN-VIRTIO-BLK
step lock lock /mnt/locked
step sick preconditions "/dev/$worn"
step well preconditions "/dev/$second"
step usb preconditions "/dev/$bridge"
step unused unused "/dev/$spinning" LN-SATA-SPINNING
step ata instructions "/dev/$fast"
keep dry-worn recondition "/dev/$worn" --dry-run --json -
keep dry-folder recondition /mnt/plain --dry-run --json -

# An array of one drive, built by the kernel's own files as mdadm does.
echo md_pair >/sys/module/md_mod/parameters/new_array
array=/sys/block/md_pair/md
echo none >$array/metadata_version
echo raid1 >$array/level
echo 1 >$array/raid_disks
echo $(($(cat "/sys/block/$virtual/size") / 2)) >$array/component_size
cat "/sys/block/$virtual/dev" >$array/new_dev
echo 0 >"$array/dev-$virtual/slot"
echo active >$array/array_state || fail "no array on $virtual"
step array discard "/dev/$virtual" LN-VIRTIO-BLK
echo clear >$array/array_state || fail "the array on $virtual can not be taken down"

umount /mnt/loop || fail "/mnt/loop can not be unmounted"
losetup -d "$loop"
for point in locked plain; do
    umount "/mnt/$point" || fail "/mnt/$point can not be unmounted"
done
dmsetup remove locked
dmsetup remove vg-data
for name in second fast volume virtual; do
    eval "device=\$$name"
    dd if=/bin/likenew of="/dev/$device" bs=1M count=12 2>/dev/null
done
sync
step discard-nvme discard "/dev/$second" LN-NVME-TWO-ns2 unknown
step discard-sata discard "/dev/$fast" LN-SATA-FAST dos,ext,unknown
step discard-scsi discard "/dev/$volume" LN-VOLUME ext,unknown
step discard-virtio discard "/dev/$virtual" LN-VIRTIO-BLK unknown
dd if=/bin/likenew of="/dev/$second" bs=1M count=12 2>/dev/null
sync
step format format "/dev/$second" LN-NVME-TWO-ns2 unknown
step format-key format-key "/dev/$second" LN-NVME-TWO-ns2 unknown

dd if=/bin/likenew of="/dev/$second" bs=1M count=12 2>/dev/null
sync
keep formatted recondition "/dev/$second" --step format --consent LN-NVME-TWO-ns2 --destroy unknown --bytes 32MiB --idle 1s --json -

dmesg >/out/dmesg
tar -c -C /out . >/dev/vport0p1 2>/dev/null || tar -c -C /out . >"$(ls /dev/vport*p1 | head -n 1)"
sync
poweroff -f
